package import FoundationEssentials
public import StoreFormat

/// The identity of one object: its store, its entity and its key, or a temporary one until the object is first saved.
///
/// Two permanent ids are equal when they name the same row: primary keys are unique below a root entity, so an id that
/// names an ancestor of the object's entity equals the one that names the entity itself.
public final class ManagedObjectID: Sendable, CustomStringConvertible {
    package enum Reference: Hashable, Sendable {
        case permanent(Int64)
        case temporary(UUID)
    }

    /// The entity as far as it is known without reading: the concrete one for every id that came out of a store.
    public let entityName: String
    /// The store's UUID; nil for a temporary id.
    public let storeUUID: String?
    package let rootName: String
    package let reference: Reference

    package init(entity: String, root: String, storeUUID: String, primaryKey: Int64) {
        entityName = entity
        rootName = root
        self.storeUUID = storeUUID
        reference = .permanent(primaryKey)
    }

    /// Makes a temporary id.
    package init(temporaryFor entity: String, root: String) {
        entityName = entity
        rootName = root
        storeUUID = nil
        reference = .temporary(UUID())
    }

    /// True until the object is first saved.
    public var isTemporaryID: Bool { storeUUID == nil }

    /// The primary key; nil for a temporary id.
    package var primaryKey: Int64? {
        if case .permanent(let key) = reference { key } else { nil }
    }

    /// The permanent address; nil for a temporary id.
    public var objectURI: ObjectURI? {
        guard let storeUUID, let primaryKey else { return nil }
        return ObjectURI(storeUUID: storeUUID, entity: entityName, primaryKey: primaryKey)
    }

    /// The address as text, which `PersistentStoreCoordinator.managedObjectID(forURIRepresentation:)` takes back.
    ///
    /// That of a temporary id names no store and means nothing to anybody else.
    public func uriRepresentation() -> String {
        switch reference {
        case .permanent: objectURI?.description ?? ""
        case .temporary(let identifier): "x-coredata:///\(entityName)/t\(identifier.uuidString)"
        }
    }

    public var description: String { uriRepresentation() }
}

extension ManagedObjectID: Hashable {
    public static func == (first: ManagedObjectID, second: ManagedObjectID) -> Bool {
        first === second
            || first.reference == second.reference && first.rootName == second.rootName
                && first.storeUUID == second.storeUUID
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(reference)
    }
}

extension ManagedObjectID: Comparable {
    /// Orders by root entity and key; temporary ids come last, in an order of their own.
    public static func < (first: ManagedObjectID, second: ManagedObjectID) -> Bool {
        guard first.rootName == second.rootName else {
            return ManagedObjectModel.inByteOrder(first.rootName, second.rootName)
        }
        return switch (first.reference, second.reference) {
        case (.permanent(let one), .permanent(let other)): one < other
        case (.permanent, .temporary): true
        case (.temporary, .permanent): false
        case (.temporary(let one), .temporary(let other)): one.uuidString < other.uuidString
        }
    }
}
