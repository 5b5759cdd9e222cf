internal import StoreFormat

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
