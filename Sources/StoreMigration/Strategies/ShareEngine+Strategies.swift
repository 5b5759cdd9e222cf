import SafeFiles
import StoreFormat
import StoreStrategies

extension ShareEngine {
    /// The outcome of a share that found its work done, with how each role opens the store since then.
    ///
    /// Strategies act on a copy; when they now say something else than what was recorded, a finding tells it.
    func describing(_ outcome: ShareOutcome) throws -> ShareOutcome {
        guard outcome.outcome == .alreadyShared, outcome.descriptions.isEmpty,
            let container = try gatherer.folder(of: new), let receipt = Receipt(beside: new.name, in: container)
        else { return outcome }
        var recorded: [StoreRole: PersistentStoreDescription] = [:]
        for (name, description) in receipt.descriptions {
            if let role = StoreRole(name) { recorded[role] = description }
        }
        var findings: [Finding] = []
        if !pipeline.isEmpty,
            let inspection = try StoreInspector(depth: .layout, lockTimeout: options.effectiveLockTimeout)
                .inspect(old).inspection,
            try DescribedStore(pipeline, of: inspection, at: new, in: container).descriptions != recorded
        {
            findings.append(.strategiesNotApplied(at: new))
        }
        return outcome.adding(findings, descriptions: recorded)
    }
}
