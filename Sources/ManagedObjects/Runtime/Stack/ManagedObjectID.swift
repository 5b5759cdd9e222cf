internal import FoundationEssentials
package import StoreFormat
internal import Synchronization

/// The identity of an object: its store, entity and key, or a temporary ID until the first save.
///
/// Permanent IDs are equal when they refer to the same row. Primary keys are unique below a root entity, so an ID with
/// an ancestor entity equals the ID with the object's own entity.
public final class ManagedObjectID: Sendable, CustomStringConvertible {
    package enum Reference: Hashable, Sendable {
        case permanent(Int64)
        case temporary(Temporary)
    }

    /// The identity of an unsaved object, and its permanent ID after the save, available while this ID is retained.
    package final class Temporary: Hashable, Sendable {
        /// Counts temporary IDs in the order of their creation in this process.
        let number: UInt64
        let permanentID = Mutex<ManagedObjectID?>(nil)

        init(_ number: UInt64) { self.number = number }

        package static func == (first: Temporary, second: Temporary) -> Bool { first.number == second.number }
        package func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// The common part of the IDs of one entity, shared by all of them.
    package final class Family: Sendable {
        let entityName: String
        let rootName: String
        /// Nil for temporary IDs.
        let storeUUID: String?

        init(entity: String, root: String, storeUUID: String?) {
            entityName = entity
            rootName = root
            self.storeUUID = storeUUID
        }
    }

    private static let lastTemporary = Atomic<UInt64>(0)
    /// Distinguishes this process's temporary IDs from those of others.
    private static let process = UUID()

    private let family: Family
    package let reference: Reference

    /// The entity as known without reading: the concrete one in every ID read from a store.
    public var entityName: String { family.entityName }
    /// The store's UUID; nil for a temporary ID.
    public var storeUUID: String? { family.storeUUID }
    package var rootName: String { family.rootName }

    init(_ family: Family, primaryKey: Int64) {
        self.family = family
        reference = .permanent(primaryKey)
    }

    package convenience init(entity: String, root: String, storeUUID: String, primaryKey: Int64) {
        self.init(Family(entity: entity, root: root, storeUUID: storeUUID), primaryKey: primaryKey)
    }

    /// Creates a temporary ID of a family without a store.
    init(temporaryIn family: Family) {
        self.family = family
        reference = .temporary(Temporary(Self.lastTemporary.wrappingAdd(1, ordering: .relaxed).newValue))
    }

    /// Creates a temporary ID.
    package convenience init(temporaryFor entity: String, root: String) {
        self.init(temporaryIn: Family(entity: entity, root: root, storeUUID: nil))
    }

    /// True until the object is first saved.
    public var isTemporaryID: Bool { storeUUID == nil }

    /// The permanent ID that replaced a temporary one in a save; nil before, and for a permanent ID.
    var permanentID: ManagedObjectID? {
        if case .temporary(let temporary) = reference { temporary.permanentID.withLock { $0 } } else { nil }
    }

    /// Records the permanent ID of a temporary one.
    func becomes(_ id: ManagedObjectID) {
        if case .temporary(let temporary) = reference, !id.isTemporaryID {
            temporary.permanentID.withLock { $0 = id }
        }
    }

    /// The primary key; nil for a temporary ID.
    package var primaryKey: Int64? {
        if case .permanent(let key) = reference { key } else { nil }
    }

    /// The permanent URI; nil for a temporary ID.
    package var objectURI: ObjectURI? {
        guard let storeUUID, let primaryKey else { return nil }
        return ObjectURI(storeUUID: storeUUID, entity: entityName, primaryKey: primaryKey)
    }

    /// The URI, which `PersistentStoreCoordinator.managedObjectID(forURIRepresentation:)` accepts.
    ///
    /// The URI of a temporary ID has no store and is meaningless to other processes.
    public func uriRepresentation() -> String {
        switch reference {
        case .permanent: objectURI?.description ?? ""
        case .temporary(let temporary):
            "x-coredata:///\(entityName)/t\(Self.process.uuidString.prefix(19))\(Self.tail(temporary.number))"
        }
    }

    /// The last two groups of a UUID, which contain a number.
    private static func tail(_ number: UInt64) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        let padded = String(repeating: "0", count: 16 - digits.utf8.count) + digits
        return padded.prefix(4) + "-" + padded.dropFirst(4)
    }

    public var description: String { uriRepresentation() }
}

extension ManagedObjectID: Hashable {
    public static func == (first: ManagedObjectID, second: ManagedObjectID) -> Bool {
        guard first !== second else { return true }
        guard first.reference == second.reference else { return false }
        return first.family === second.family
            || first.rootName == second.rootName && first.storeUUID == second.storeUUID
    }

    public func hash(into hasher: inout Hasher) {
        switch reference {
        case .permanent(let key): hasher.combine(key)
        case .temporary(let number): hasher.combine(number)
        }
    }
}

extension ManagedObjectID: Comparable {
    /// Orders by root entity and key; temporary IDs come last, in the order of their creation.
    public static func < (first: ManagedObjectID, second: ManagedObjectID) -> Bool {
        guard first.rootName == second.rootName else {
            return ManagedObjectModel.inByteOrder(first.rootName, second.rootName)
        }
        return switch (first.reference, second.reference) {
        case (.permanent(let one), .permanent(let other)): one < other
        case (.permanent, .temporary): true
        case (.temporary, .permanent): false
        case (.temporary(let one), .temporary(let other)): one.number < other.number
        }
    }
}

/// The families of object IDs in one store, by entity.
struct ObjectIDFamilies: Sendable {
    private let storeUUID: String
    private let byName: [String: ManagedObjectID.Family]
    private let byNumber: [Int64: ManagedObjectID.Family]

    init(_ layout: StoreLayout, storeUUID: String) {
        var (byName, byNumber): ([String: ManagedObjectID.Family], [Int64: ManagedObjectID.Family]) = ([:], [:])
        for (name, entity) in layout.entities {
            let family = ManagedObjectID.Family(entity: name, root: entity.root, storeUUID: storeUUID)
            byName[name] = family
            byNumber[entity.number] = family
        }
        self.storeUUID = storeUUID
        self.byName = byName
        self.byNumber = byNumber
    }

    func family(of shape: ObjectShape) -> ManagedObjectID.Family {
        byName[shape.name] ?? ManagedObjectID.Family(entity: shape.name, root: shape.root, storeUUID: storeUUID)
    }

    /// Nil for an entity that the store does not contain.
    func family(named entity: String) -> ManagedObjectID.Family? { byName[entity] }

    /// Nil for a number without an entity in the store.
    func family(numbered number: Int64) -> ManagedObjectID.Family? { byNumber[number] }
}
