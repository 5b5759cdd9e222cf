internal import FoundationEssentials
package import StoreFormat
internal import Synchronization

/// The identity of one object: its store, its entity and its key, or a temporary one until the object is first saved.
///
/// Two permanent ids are equal when they name the same row: primary keys are unique below a root entity, so an id that
/// names an ancestor of the object's entity equals the one that names the entity itself.
public final class ManagedObjectID: Sendable, CustomStringConvertible {
    package enum Reference: Hashable, Sendable {
        case permanent(Int64)
        case temporary(Temporary)
    }

    /// What identifies an object until it is saved, and what its id is then: known as long as somebody holds this one.
    package final class Temporary: Hashable, Sendable {
        /// Counts temporary ids in the order in which they were made in this process.
        let number: UInt64
        let permanentID = Mutex<ManagedObjectID?>(nil)

        init(_ number: UInt64) { self.number = number }

        package static func == (first: Temporary, second: Temporary) -> Bool { first.number == second.number }
        package func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// What the ids of one entity have in common, kept once for all of them.
    package final class Family: Sendable {
        let entityName: String
        let rootName: String
        /// Nil for temporary ids.
        let storeUUID: String?

        init(entity: String, root: String, storeUUID: String?) {
            entityName = entity
            rootName = root
            self.storeUUID = storeUUID
        }
    }

    private static let lastTemporary = Atomic<UInt64>(0)
    /// What tells the temporary ids of this process from those of others.
    private static let process = UUID()

    private let family: Family
    package let reference: Reference

    /// The entity as far as it is known without reading: the concrete one for every id that came out of a store.
    public var entityName: String { family.entityName }
    /// The store's UUID; nil for a temporary id.
    public var storeUUID: String? { family.storeUUID }
    package var rootName: String { family.rootName }

    init(_ family: Family, primaryKey: Int64) {
        self.family = family
        reference = .permanent(primaryKey)
    }

    package convenience init(entity: String, root: String, storeUUID: String, primaryKey: Int64) {
        self.init(Family(entity: entity, root: root, storeUUID: storeUUID), primaryKey: primaryKey)
    }

    /// Makes a temporary id of a family without a store.
    init(temporaryIn family: Family) {
        self.family = family
        reference = .temporary(Temporary(Self.lastTemporary.wrappingAdd(1, ordering: .relaxed).newValue))
    }

    /// Makes a temporary id.
    package convenience init(temporaryFor entity: String, root: String) {
        self.init(temporaryIn: Family(entity: entity, root: root, storeUUID: nil))
    }

    /// True until the object is first saved.
    public var isTemporaryID: Bool { storeUUID == nil }

    /// The id that the object of a temporary id got when it was saved; nil before, and for a permanent id.
    var permanentID: ManagedObjectID? {
        if case .temporary(let temporary) = reference { temporary.permanentID.withLock { $0 } } else { nil }
    }

    /// Notes under which id the object of a temporary one was saved.
    func becomes(_ id: ManagedObjectID) {
        if case .temporary(let temporary) = reference, !id.isTemporaryID {
            temporary.permanentID.withLock { $0 = id }
        }
    }

    /// The primary key; nil for a temporary id.
    package var primaryKey: Int64? {
        if case .permanent(let key) = reference { key } else { nil }
    }

    /// The permanent address; nil for a temporary id.
    package var objectURI: ObjectURI? {
        guard let storeUUID, let primaryKey else { return nil }
        return ObjectURI(storeUUID: storeUUID, entity: entityName, primaryKey: primaryKey)
    }

    /// The address as text, which `PersistentStoreCoordinator.managedObjectID(forURIRepresentation:)` takes back.
    ///
    /// That of a temporary id names no store and means nothing to anybody else.
    public func uriRepresentation() -> String {
        switch reference {
        case .permanent: objectURI?.description ?? ""
        case .temporary(let temporary):
            "x-coredata:///\(entityName)/t\(Self.process.uuidString.prefix(19))\(Self.tail(temporary.number))"
        }
    }

    /// The last two groups of a UUID, which hold a number.
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
    /// Orders by root entity and key; temporary ids come last, in the order in which they were made.
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
