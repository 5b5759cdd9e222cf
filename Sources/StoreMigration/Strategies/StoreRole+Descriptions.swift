import StoreStrategies

extension [StoreRole: PersistentStoreDescription] {
    /// The descriptions by role name, as they are written.
    var byRoleName: [String: PersistentStoreDescription] {
        [String: PersistentStoreDescription](uniqueKeysWithValues: map { ($0.key.description, $0.value) })
    }

    /// The descriptions from their written form.
    init(byRoleName written: [String: PersistentStoreDescription]) {
        self = [:]
        for (name, description) in written {
            if let role = StoreRole(name) { self[role] = description }
        }
    }
}
