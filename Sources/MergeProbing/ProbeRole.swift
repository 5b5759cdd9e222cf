import ManagedObjects
import StoreAccess
import StoreStrategies
import StoreVerification

/// A role and how it opens the scratch store.
struct ProbeRole: Sendable {
    let role: StoreRole
    let description: PersistentStoreDescription

    /// The same role on another scratch store.
    func at(_ location: StoreLocation) -> ProbeRole {
        var description = description
        description.url = location.url
        // The probe examines the copy as it is.
        description.shouldMigrateStoreAutomatically = false
        return ProbeRole(role: role, description: description)
    }

    /// Every pair of a role that writes and another role.
    ///
    /// First is what the app receives, then what it sends, then what extensions send to each other. A role alone writes for
    /// a second program of its own.
    static func directions(_ roles: [ProbeRole]) -> [(from: ProbeRole, to: ProbeRole)] {
        let sorted = roles.sorted { $0.role.description < $1.role.description }
        let writers = sorted.filter { !$0.description.isReadOnly }
        if sorted.count == 1 { return writers.map { ($0, $0) } }
        let pairs = writers.flatMap { from in
            sorted.filter { $0.role != from.role }.map { (from: from, to: $0) }
        }
        let toApp = pairs.filter { $0.to.role == .app }
        let fromApp = pairs.filter { $0.from.role == .app }
        return toApp + fromApp + pairs.filter { $0.to.role != .app && $0.from.role != .app }
    }

    /// Findings from the descriptions alone that prove that changes do not arrive.
    static func disagreements(_ roles: [ProbeRole]) -> [Finding] {
        guard let keeper = roles.first(where: \.description.isHistoryTrackingEnabled) else { return [] }
        return roles.filter { !$0.description.isHistoryTrackingEnabled && !$0.description.isReadOnly }
            .map { .historyDisagrees(keeper.role, $0.role) }
    }
}

/// One delivery of changes to the reading side of a probe.
struct ProbeDelivery: Sendable {
    /// The URIs of the changed objects.
    var uris: Set<String> = []
    /// True when everything may have changed.
    var isFullRefresh = false
    /// The UUIDs of other stores to which delivered URIs belong.
    var otherStores: Set<String> = []
    /// True when another process advanced its position past notices that it had not received.
    var isPositionMoved = false

    func names(_ uri: String) -> Bool { isFullRefresh || uris.contains(uri) }
}

/// The text of an error, without the path of the scratch folder.
enum ProbeReason {
    static func text(of error: any Error) -> String {
        switch error {
        case let error as ManagedObjectError: error.description
        case let error as StoreError: error.message
        default: "\(error)"
        }
    }
}
