import ManagedObjects

/// Merges other processes' changes into the contexts of the reading side, in one of the ways of apps.
protocol ProbeReceiver {
    /// Merges the changes since the last call; with `repeating`, the changes of the last call again.
    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery
}
