extension Collection<ManagedObject> {
    /// The objects in the order in which they were first changed.
    func inOrder() -> [ManagedObject] {
        // The numbers lie side by side while they are compared: reading each from its object would be half of the work.
        map { (order: $0.order, object: $0) }.sorted { $0.order < $1.order }.map(\.object)
    }
}
