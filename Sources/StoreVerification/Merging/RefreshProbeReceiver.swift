import ManagedObjects

/// Receives by looking at everything anew, as an app must that is told of nothing.
struct RefreshProbeReceiver: ProbeReceiver {
    func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        for context in contexts { try context.performAndWait { _ = try $0.viewContextDidSaveExternally() } }
        var delivery = ProbeDelivery()
        delivery.isFullRefresh = true
        return delivery
    }
}
