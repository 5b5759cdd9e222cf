/// Decodes the XML document of a model, as a model editor writes it (`contents`).
///
/// Elements without effect on a store are skipped: fetch requests, configurations, classes, layout. Comments and fetched
/// properties are annotations.
/// So are compound indexes and indexed attributes, which modern documents write as fetch indexes.
struct ModelDocumentDecoder {
    private let root: XMLElement

    init(_ bytes: [UInt8]) throws {
        var reader = XMLElementReader(bytes)
        root = try reader.root()
        guard root.name == "model" else { throw UndecodableData("the document is not that of a managed object model") }
    }

    var annotations: ModelAnnotations { ModelAnnotations(document: root) }

    func model() throws -> ManagedObjectModel {
        let elements = root.children("entity")
        let entities = try elements.map(entity)
        let names = Set(entities.map(\.name))
        for (entity, element) in zip(entities, elements) {
            if let parent = entity.superentity, !names.contains(parent) {
                throw Self.wrong(element, "the entity \(entity.name) has an unknown parent \(parent)")
            }
        }
        guard names.count == entities.count else { throw UndecodableData("two entities have one name") }
        return ManagedObjectModel(
            entities: entities,
            versionIdentifiers: [root.attributes["userDefinedModelVersionIdentifier"] ?? ""]
        )
    }

    private func entity(_ element: XMLElement) throws -> EntityDescription {
        EntityDescription(
            name: try Self.required("name", element),
            superentity: element.text("parentEntity"),
            isAbstract: element.flag("isAbstract"),
            attributes: try element.children("attribute").map(attribute)
                .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) },
            relationships: try element.children("relationship").map(relationship)
                .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) },
            uniquenessConstraints: try element.children("uniquenessConstraints")
                .flatMap { $0.children("uniquenessConstraint") }
                .map { try $0.children("constraint").map { try Self.required("value", $0) } },
            fetchIndexes: try element.children("fetchIndex").map(fetchIndex),
            legacyTombstoneAttributes: Self.tombstoneAttributes(element),
            renamingIdentifier: Self.renamingIdentifier(element),
            versionHashModifier: element.text("versionHashModifier")
        )
    }

    // MARK: Properties

    private static let types: [String: AttributeDescription.AttributeType] = [
        "Undefined": .undefined, "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64,
        "Decimal": .decimal, "Double": .double, "Float": .float, "String": .string, "Boolean": .boolean,
        "Date": .date, "Binary": .binaryData, "Binary Data": .binaryData, "UUID": .uuid, "URI": .uri,
        "Transformable": .transformable, "Object ID": .objectID, "ObjectID": .objectID, "Composite": .composite,
    ]

    private func attribute(_ element: XMLElement) throws -> AttributeDescription {
        let name = try Self.required("name", element)
        let typeName = element.text("attributeType") ?? "Undefined"
        guard let type = Self.types[typeName] else {
            throw Self.wrong(element, "the attribute \(name) has an unknown type \(typeName)")
        }
        return AttributeDescription(
            name: name,
            type: type,
            isOptional: element.flag("optional"),
            isTransient: element.flag("transient"),
            isDerived: element.flag("derived"),
            allowsExternalBinaryDataStorage: element.flag("allowsExternalBinaryDataStorage"),
            preservesValueInHistoryOnDeletion: element.flag("preserveAfterDeletion"),
            valueTransformerName: element.text("valueTransformerName"),
            defaultValue: try defaultValue(element, type),
            derivationExpression: element.flag("derived") ? element.text("derivationExpression") : nil,
            renamingIdentifier: Self.renamingIdentifier(element),
            versionHashModifier: element.text("versionHashModifier")
        )
    }

    private func defaultValue(
        _ element: XMLElement,
        _ type: AttributeDescription.AttributeType
    ) throws -> PropertyListValue? {
        if type == .date {
            guard let text = element.text("defaultDateTimeInterval") else { return nil }
            guard let seconds = Double(text) else { throw Self.wrong(element, "a default date is not a number") }
            return .date(seconds)
        }
        guard let text = element.attributes["defaultValueString"] else { return nil }
        let value: PropertyListValue? =
            switch type {
            case .integer16, .integer32, .integer64: Int64(text).map(PropertyListValue.integer)
            case .boolean:
                ["YES": .boolean(true), "NO": .boolean(false), "1": .boolean(true), "0": .boolean(false)][text]
            case .double, .float, .decimal: Double(text).map(PropertyListValue.real)
            case .uuid: Self.uuid(text).map(PropertyListValue.data)
            default: .string(text)
            }
        guard let value else {
            throw Self.wrong(element, "the default of the attribute \(element.text("name") ?? "") is not of its type")
        }
        return value
    }

    private static let deleteRules: [String: RelationshipDescription.DeleteRule] = [
        "No Action": .noAction, "Nullify": .nullify, "Cascade": .cascade, "Deny": .deny,
    ]

    private func relationship(_ element: XMLElement) throws -> RelationshipDescription {
        let name = try Self.required("name", element)
        let isToMany = element.flag("toMany")
        let rule = element.text("deletionRule") ?? "Nullify"
        guard let deleteRule = Self.deleteRules[rule] else {
            throw Self.wrong(element, "the relationship \(name) has an unknown delete rule \(rule)")
        }
        return RelationshipDescription(
            name: name,
            destination: try Self.required("destinationEntity", element),
            inverse: element.text("inverseName"),
            minCount: try Self.count("minCount", element) ?? 0,
            maxCount: isToMany ? try Self.count("maxCount", element) ?? 0 : 1,
            isOrdered: element.flag("ordered"),
            isOptional: element.flag("optional"),
            isTransient: element.flag("transient"),
            deleteRule: deleteRule,
            renamingIdentifier: Self.renamingIdentifier(element),
            versionHashModifier: element.text("versionHashModifier")
        )
    }

    // MARK: Indexes

    private func fetchIndex(_ element: XMLElement) throws -> FetchIndexDescription {
        FetchIndexDescription(
            name: try Self.required("name", element),
            elements: element.children("fetchIndexElement")
                .map { member in
                    FetchIndexDescription.Element(
                        property: member.text("property") ?? member.text("expression") ?? "",
                        kind: member.text("type") == "RTree" ? .rTree : .binary,
                        isAscending: member.text("order") != "descending"
                    )
                },
            isPartial: element.text("partialIndexPredicate") != nil
        )
    }

    private static func tombstoneAttributes(_ element: XMLElement) -> [String] {
        let entries = element.children("userInfo").flatMap { $0.children("entry") }
        let names = entries.first { $0.text("key") == "NSPersistentHistoryTombstoneAttributes" }?.text("value") ?? ""
        return names.split(separator: ",").map { String($0.filter { $0 != " " }) }
    }

    // MARK: Fields

    private static func required(_ attribute: String, _ element: XMLElement) throws -> String {
        guard let text = element.text(attribute) else {
            throw wrong(element, "an element \(element.name) has no \(attribute)")
        }
        return text
    }

    private static func count(_ attribute: String, _ element: XMLElement) throws -> Int? {
        guard let text = element.text(attribute) else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw wrong(element, "\(attribute) of \(element.text("name") ?? "a relationship") is no count")
        }
        return count
    }

    private static func uuid(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: "-") })
        guard digits.count == 32 else { return nil }
        let bytes = stride(from: 0, to: 32, by: 2)
            .compactMap { UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) }
        return bytes.count == 16 ? bytes : nil
    }

    /// A document writes the renaming identifier as `elementID`.
    private static func renamingIdentifier(_ element: XMLElement) -> String? {
        element.text("elementID").flatMap { $0.isEmpty || $0 == element.text("name") ? nil : $0 }
    }

    private static func wrong(_ element: XMLElement, _ reason: String) -> UndecodableData {
        UndecodableData("in line \(element.line) of the model document, \(reason)")
    }
}
