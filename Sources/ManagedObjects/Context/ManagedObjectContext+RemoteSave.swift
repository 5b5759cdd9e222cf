extension ManagedObjectContext {
    /// Merges changes made outside this context, synchronously and into this context only.
    package func mergeChanges(fromRemoteContextSave changes: ObjectIDChanges) throws {
        persistentStoreCoordinator.forget(changes)
        try graph.forgetDestinations(changedIn: changes)
        try graph.merge(changes)
    }
}
