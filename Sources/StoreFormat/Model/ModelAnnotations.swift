/// What a model says about its elements without an effect on a store: comments, enumerations and fetched properties.
public struct ModelAnnotations: Hashable, Sendable {
    /// What the model says about an entity or a property.
    public struct Element: Hashable, Sendable {
        /// The text of the user info's key `documentation` or `comment`.
        public let comment: String?
        /// The Swift type that the user info's key `enum` or `attributeValueScalarType` names.
        public let enumeration: String?

        public init(comment: String? = nil, enumeration: String? = nil) {
            self.comment = comment
            self.enumeration = enumeration
        }

        /// Nil for a user info without such a key.
        init?(userInfo: [String: String]) {
            comment = userInfo["documentation"] ?? userInfo["comment"]
            enumeration = userInfo["enum"] ?? userInfo["attributeValueScalarType"]
            if comment == nil, enumeration == nil { return nil }
        }
    }

    /// A property whose objects a request finds.
    public struct FetchedProperty: Hashable, Sendable {
        public let name: String
        /// The entity of the objects.
        public let destination: String
        /// The predicate as a text; nil for all objects.
        public let predicate: String?

        public init(name: String, destination: String, predicate: String? = nil) {
            self.name = name
            self.destination = destination
            self.predicate = predicate
        }
    }

    /// The annotations of one entity and of the properties that it declares.
    public struct Entity: Hashable, Sendable {
        public var element: Element?
        public var properties: [String: Element] = [:]
        /// Compiled models have none here, because they contain no text of the predicate.
        public var fetchedProperties: [FetchedProperty] = []

        public init() {}
    }

    /// The annotations by the names of the entities.
    public var entities: [String: Entity] = [:]

    public init() {}
}

extension ModelAnnotations {
    /// Decodes the annotations of an archived model, from its entities.
    init(_ reader: KeyedArchiveReader, _ archived: [String: PropertyListValue]) {
        func element(_ object: KeyedArchiveReader.Object?) -> Element? {
            guard let userInfo = reader.dictionary(object?.fields["NSUserInfo"]) else { return nil }
            return Element(userInfo: userInfo.compactMapValues(reader.string))
        }
        for (name, value) in archived {
            guard let object = reader.object(value) else { continue }
            var entity = Entity()
            entity.element = element(object)
            for (name, value) in reader.dictionary(object.fields["NSProperties"]) ?? [:] {
                entity.properties[name] = element(reader.property(value))
            }
            if entity != Entity() { entities[name] = entity }
        }
    }
}
