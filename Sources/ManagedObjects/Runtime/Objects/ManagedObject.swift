public import StoreFormat

/// An object of a context: a fault until its values are read, then a copy of its row with unsaved changes.
///
/// It is confined to its context: it is not `Sendable`, so the compiler rejects code that moves it out of a `perform`
/// block; pass its ``objectID`` instead. Subclass it to add properties to an entity's objects.
open class ManagedObject {
    /// The state of an object in its context.
    struct Status: OptionSet {
        let rawValue: UInt8
        static let inserted = Status(rawValue: 1)
        static let updated = Status(rawValue: 2)
        static let deleted = Status(rawValue: 4)
        /// Its row does not exist or the object left the context.
        static let gone = Status(rawValue: 8)
        static let fault = Status(rawValue: 16)
        /// The object retains its cached row.
        static let holdsRow = Status(rawValue: 32)
    }

    public internal(set) var objectID: ManagedObjectID
    /// The shape of the concrete entity once it is known; an ID may name an ancestor.
    package internal(set) var shape: ObjectShape
    /// The graph of its context; nil after the object left it.
    var graphReference: GraphReference?
    var content = ObjectContent.nothing
    /// Less than the depth of every prefetched object, which prevents retain cycles.
    var depth: UInt32 = 0
    var status: Status

    /// Only contexts create objects.
    public required init(_ registration: Registration) {
        objectID = registration.id
        shape = registration.shape
        graphReference = registration.graphReference
        status = registration.status
    }

    deinit { graph?.unregister(ObjectIdentifier(self), objectID, status) }

    /// A context's data for a new object.
    public struct Registration {
        let id: ManagedObjectID
        let shape: ObjectShape
        let graphReference: GraphReference?
        let status: Status
    }

    // MARK: State

    public var entity: EntityDescription { shape.entity }
    /// The context; nil after the object was deleted or the context was released.
    public var managedObjectContext: ManagedObjectContext? { graph?.context }
    public var isInserted: Bool { status.contains(.inserted) }
    public var isUpdated: Bool { status.contains(.updated) }
    public var isDeleted: Bool { status.contains(.deleted) }
    /// True until its values are read.
    public var isFault: Bool { status.contains(.fault) }
    public var hasChanges: Bool { !status.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// True when a save would write a value; setting an equal value is a change but not a persistent one.
    public var hasPersistentChangedValues: Bool { !changedValueKeys.isEmpty }

    /// The names of the properties that differ from the last read or save, in byte order.
    public var changedValueKeys: [String] {
        changedProperties().map(shape.name(of:)).sorted(by: ManagedObjectModel.inByteOrder)
    }

    var graph: ObjectGraph? { graphReference?.graph }

    /// The graph of the context; throws for an object without a context, because its changes could never be saved.
    func requireContext() throws -> ObjectGraph {
        guard let graph else {
            throw ManagedObjectError(
                .objectIsGone,
                "this \(shape.name) no longer has a context: it was deleted, or its context was reset or released",
                objectIDs: [objectID]
            )
        }
        return graph
    }

    // MARK: For subclasses

    /// The class of which an instance runs no code of its own when it is released: a subclass without stored properties and
    /// without a `deinit` may name itself here, which saves the context a weak reference for each object.
    open class var plainClass: ManagedObject.Type { ManagedObject.self }

    /// Called once, after the object was created and inserted.
    open func awakeFromInsert() {}
    /// Called after its values were read.
    open func awakeFromFetch() {}
    /// Called before a save writes the object; changes made here are saved too.
    open func willSave() throws {}
    /// Called after a save wrote the object.
    open func didSave() {}

    /// Reads the object's values if it is a fault; `key` exists only for compatibility with Core Data.
    public func willAccessValue(forKey key: String?) throws {
        try graph?.fire(self)
    }
}

extension ManagedObject: Hashable {
    public static func == (first: ManagedObject, second: ManagedObject) -> Bool { first === second }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject {
    /// The value of an attribute; external binary data is read from its file.
    public func value(forKey key: String) throws -> AttributeValue {
        let value = try rawValue(forKey: key)
        guard case .externalData(let reference) = value, let graph else { return value }
        return .data(try graph.source.externalData(reference.fileName, of: objectID))
    }

    /// The value of an attribute as a Swift type; nil when there is none or it has another type.
    public func value<T: AttributeConvertible>(_ type: T.Type = T.self, forKey key: String) throws -> T? {
        T(attributeValue: try value(forKey: key))
    }

    /// The value of an attribute as stored; external binary data is not read.
    package func rawValue(forKey key: String) throws -> AttributeValue {
        // The row may have a subentity of the ID's entity.
        try graph?.fire(self)
        return attribute(try attributeIndex(key))
    }

    /// Sets an attribute, after converting the value to its type.
    public func setValue(_ value: AttributeValue, forKey key: String) throws {
        let graph = try requireContext()
        try graph.fire(self)
        let index = try attributeIndex(key)
        let description = shape.attributes[index]
        guard !description.isDerived else {
            throw ManagedObjectError(.wrongType, "\(shape.name).\(key) is derived by the store and cannot be set")
        }
        guard let converted = value.converted(to: description.type) else {
            throw ManagedObjectError(.wrongType, "the value does not fit the type of \(shape.name).\(key)")
        }
        try graph.markChanged(self)
        set(converted, at: index)
    }

    /// Sets an attribute; nil clears it.
    public func setValue<T: AttributeConvertible>(_ value: T?, forKey key: String) throws {
        try setValue(value?.attributeValue ?? AttributeValue.null, forKey: key)
    }

    private func attributeIndex(_ key: String) throws -> Int {
        guard let property = shape.property(key) else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name) has no property \(key)")
        }
        guard case .attribute(let index) = property else {
            throw ManagedObjectError(.unknownProperty, "\(shape.name).\(key) is a relationship, not an attribute")
        }
        return index
    }

    /// The properties whose values differ from the base.
    func changedProperties() -> [ObjectShape.Property] {
        var result = changed.filter { property in
            switch property {
            case .attribute(let index):
                !shape.attributes[index].isTransient && attribute(index) != (base?.attribute(index) ?? .null)
            case .toOne(let index): toOne(index) != base?.toOne(index)
            case .toMany: false
            }
        }
        for (index, value) in toManys where value.hasChanges { result.insert(.toMany(index)) }
        return Array(result)
    }
}

extension Collection<ManagedObject> {
    /// The objects in the order in which they were first changed.
    func inOrder() -> [ManagedObject] {
        // Copying the numbers first makes comparisons local: reading each from its object would take half of the time.
        map { (order: $0.order, object: $0) }.sorted { $0.order < $1.order }.map(\.object)
    }
}
