import StoreFormat
import StoreStrategies

/// A role and how it opens the scratch store.
struct ProbeRole: Sendable {
    let role: StoreRole
    let description: PersistentStoreDescription

    /// The pairs of writer and reader: extensions write for the app, and the app for an extension that only reads.
    static func directions(_ roles: [ProbeRole]) -> [(from: ProbeRole, to: ProbeRole)] {
        let app = roles.first { $0.role == .app } ?? roles.first
        guard let app else { return [] }
        let others = roles.filter { $0.role != app.role }.sorted { $0.role.description < $1.role.description }
        if others.isEmpty { return app.description.isReadOnly ? [] : [(app, app)] }
        return others.compactMap { other in
            if !other.description.isReadOnly { return (other, app) }
            return app.description.isReadOnly ? nil : (app, other)
        }
    }

    /// Findings from the descriptions alone that prove that changes do not arrive.
    static func disagreements(_ roles: [ProbeRole]) -> [Finding] {
        guard let keeper = roles.first(where: \.description.isHistoryTrackingEnabled) else { return [] }
        return roles.filter { !$0.description.isHistoryTrackingEnabled && !$0.description.isReadOnly }
            .map { .historyDisagrees(keeper.role, $0.role) }
    }
}
