public import StoreFormat

/// An object of a context: a fault until a value is asked for, then a copy of its row with the changes made to it.
///
/// It is confined to its context: it is not `Sendable`, and the compiler refuses to let it out of a `perform` block. Take
/// its ``objectID`` instead. Subclass it to give an entity properties of its own.
open class ManagedObject {
    /// What the context has noted of an object.
    struct Status: OptionSet {
        let rawValue: UInt8
        static let inserted = Status(rawValue: 1)
        static let updated = Status(rawValue: 2)
        static let deleted = Status(rawValue: 4)
        /// Its row is gone, and it is no longer part of the context.
        static let gone = Status(rawValue: 8)
        static let fault = Status(rawValue: 16)
        /// Counted as a user of its cached row.
        static let holdsRow = Status(rawValue: 32)
    }

    public internal(set) var objectID: ManagedObjectID
    /// That of the concrete entity, once that is known: an id may name an ancestor.
    package internal(set) var shape: ObjectShape
    weak var graph: ObjectGraph?
    var status: Status
    /// The row as it was read or saved last; nil for a fault and before the first save.
    var base: RowSnapshot?
    var attributes: [AttributeValue] = []
    var toOnes: [ManagedObjectID?] = []
    var toManys: [Int: ToManyValue] = [:]
    /// The attributes and to-ones that were set since the base was read.
    var changed: Set<ObjectShape.Property> = []
    /// When it was first changed, among the changes of its context; saves keep that order.
    var order = 0
    /// Destinations that were prefetched, by relationship, kept until the object is a fault again.
    var prefetched: [String: [ManagedObject]] = [:]
    /// Less than that of every object it has prefetched, so that no two keep each other alive.
    var depth: UInt32 = 0

    /// Objects are made by contexts.
    public required init(_ registration: Registration) {
        objectID = registration.id
        shape = registration.shape
        graph = registration.graph
        status = registration.status
    }

    deinit { graph?.unregister(ObjectIdentifier(self), objectID, status) }

    /// What a context says of an object that it makes.
    public struct Registration {
        let id: ManagedObjectID
        let shape: ObjectShape
        let graph: ObjectGraph
        let status: Status
    }

    // MARK: State

    public var entity: EntityDescription { shape.entity }
    /// The context; nil once the object was deleted or the context is gone.
    public var managedObjectContext: ManagedObjectContext? { graph?.context }
    public var isInserted: Bool { status.contains(.inserted) }
    public var isUpdated: Bool { status.contains(.updated) }
    public var isDeleted: Bool { status.contains(.deleted) }
    /// True while its values have not been read.
    public var isFault: Bool { status.contains(.fault) }
    public var hasChanges: Bool { !status.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// True when a save would write something for it: setting an equal value is a change, and yet none of these.
    public var hasPersistentChangedValues: Bool { !changedValueKeys.isEmpty }

    /// The names of the properties that differ from what was read or saved last, in byte order.
    public var changedValueKeys: [String] {
        changedProperties().map(shape.name(of:)).sorted(by: ManagedObjectModel.inByteOrder)
    }

    /// The graph of the context; throws once the object is in none any more, for then nobody would save a change.
    func requireContext() throws -> ObjectGraph {
        guard let graph else {
            throw ManagedObjectError(
                .objectIsGone,
                "this \(shape.name) is in no context any more: it was deleted, or its context was reset or is gone",
                objectIDs: [objectID]
            )
        }
        return graph
    }

    /// Forgets what the store was said to hold of to-many relationships, not what was changed; false when nothing was.
    func forgetDestinations() -> Bool {
        let read = toManys.filter { $0.value.base != nil }.keys
        for index in read { toManys[index]?.base = nil }
        return !read.isEmpty
    }

    // MARK: For subclasses

    /// Called once, when the object was made and inserted.
    open func awakeFromInsert() {}
    /// Called when its values were read.
    open func awakeFromFetch() {}
    /// Called before a save writes it; changes made here are saved too.
    open func willSave() throws {}
    /// Called when a save has written it.
    open func didSave() {}

    /// Reads its values if it is a fault, and touches none of them; `key` is there for the looks of it.
    public func willAccessValue(forKey key: String?) throws {
        try graph?.fire(self)
    }
}

extension ManagedObject: Hashable {
    public static func == (first: ManagedObject, second: ManagedObject) -> Bool { first === second }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
