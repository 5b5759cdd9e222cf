import SafeFiles
import StoreAccess

/// The caller's answers to the plans of one share.
///
/// A plan is accepted together with the state of both stores from which it was made: under the journal's lock, only that
/// plan may be carried out, and only while both stores are in that state.
final class PlanConsent {
    /// The files of both stores, read before a plan is made from them.
    struct States {
        fileprivate let old: TokenReading?
        fileprivate let new: TokenReading?
    }

    private let engine: ShareEngine
    private let confirm: @Sendable (SharePlan) async throws -> Bool
    private var accepted: (plan: SharePlan, states: States)?

    /// Nil if the caller wants no question.
    init?(_ engine: ShareEngine) {
        guard let confirm = engine.options.confirm else { return nil }
        self.engine = engine
        self.confirm = confirm
    }

    /// The present state of both stores.
    func states() throws -> States { States(old: try reading(of: engine.old), new: try reading(of: engine.new)) }

    /// Asks about a plan that was made after `states` were read, unless it was accepted before; throws if it is declined.
    func require(_ plan: SharePlan, _ states: States) throws {
        if try covers(plan) { return }
        let monitor = engine.surroundings.monitor
        let isAccepted = try BlockingCall.wait(
            for: { [confirm] in try await confirm(plan) },
            requireTime: { try monitor.checkCancellation() }
        )
        guard isAccepted else {
            throw MigrationError(
                .cancelled,
                "the plan was declined",
                path: plan.new.path,
                advice: "Nothing of this plan was carried out. Run the command again to be asked again."
            )
        }
        accepted = (plan, states)
    }

    /// True if this plan was accepted, and neither store has changed since it was made.
    func covers(_ plan: SharePlan) throws -> Bool {
        guard let accepted, accepted.plan.isSame(as: plan) else { return false }
        return try isUnchanged(accepted.states.old, engine.old) && isUnchanged(accepted.states.new, engine.new)
    }

    private func reading(of store: StoreLocation) throws -> TokenReading? {
        guard let folder = try engine.gatherer.folder(of: store), try folder.status(of: store.name) != nil else {
            return nil
        }
        return try OldStateRecorder.read(store, in: folder)
    }

    private func isUnchanged(_ reading: TokenReading?, _ store: StoreLocation) throws -> Bool {
        guard let folder = try engine.gatherer.folder(of: store), try folder.status(of: store.name) != nil else {
            return reading == nil
        }
        return try reading.map { try OldStateRecorder.isUnchanged($0, at: store, in: folder) } ?? false
    }
}

extension SharePlan {
    /// True if both plans write the same; remarks, and what a merge was expected to do, may differ.
    fileprivate func isSame(as other: SharePlan) -> Bool {
        outcome == other.outcome && old == other.old && new == other.new && work == other.work && steps == other.steps
            && oldStore == other.oldStore && roles == other.roles && migration == other.migration
    }
}
