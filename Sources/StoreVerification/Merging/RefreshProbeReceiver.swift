import ManagedObjects

/// Receives changes by refreshing everything, as an app without notifications must.
struct RefreshProbeReceiver: ProbeReceiver {
    func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        for context in contexts { try context.performAndWait { _ = try $0.viewContextDidSaveExternally() } }
        var delivery = ProbeDelivery()
        delivery.isFullRefresh = true
        return delivery
    }
}
