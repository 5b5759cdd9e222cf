import ManagedObjects

/// Brings what others wrote into the contexts of the reading side, in one of the ways that apps have.
protocol ProbeReceiver {
    /// Merges what is new since the last time; with `repeating`, what was merged the last time once more.
    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery
}
