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
    weak var graph: ObjectGraph?
    var status: Status
    /// The row as last read or saved; nil for a fault and before the first save.
    var base: RowSnapshot?
    var attributes: [AttributeValue] = []
    var toOnes: [ManagedObjectID?] = []
    var toManys: [Int: ToManyValue] = [:]
    /// The attributes and to-one relationships that were set since the base was read.
    var changed: Set<ObjectShape.Property> = []
    /// The rank of its first change among the context's changes; saves keep that order.
    var order = 0
    /// The prefetched destinations by relationship, retained until the object becomes a fault.
    var prefetched: [String: [ManagedObject]] = [:]
    /// Less than the depth of every prefetched object, which prevents retain cycles.
    var depth: UInt32 = 0

    /// Only contexts create objects.
    public required init(_ registration: Registration) {
        objectID = registration.id
        shape = registration.shape
        graph = registration.graph
        status = registration.status
    }

    deinit { graph?.unregister(ObjectIdentifier(self), objectID, status) }

    /// A context's data for a new object.
    public struct Registration {
        let id: ManagedObjectID
        let shape: ObjectShape
        let graph: ObjectGraph?
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

    /// Drops cached destinations of to-many relationships but keeps unsaved changes; false when none were cached.
    func forgetDestinations() -> Bool {
        let read = toManys.filter { $0.value.base != nil }.keys
        for index in read { toManys[index]?.base = nil }
        return !read.isEmpty
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
