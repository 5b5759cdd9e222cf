extension ManagedObjectContext {
    /// Takes in changes that reached the store some other way, at once and into this context alone.
    package func mergeChanges(fromRemoteContextSave changes: ObjectIDChanges) throws {
        persistentStoreCoordinator.forget(changes)
        try graph.merge(changes)
    }
}
