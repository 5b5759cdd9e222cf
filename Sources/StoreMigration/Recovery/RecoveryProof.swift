import SafeFiles
import StoreFormat
import StoreVerification

/// Proves the new store of a run that was interrupted after its commit point, as the run itself would have.
struct RecoveryProof {
    private let run: RunState.InterruptedRun
    private let options: ShareOptions
    private let monitor: WorkMonitor

    init(_ run: RunState.InterruptedRun, options: ShareOptions, monitor: WorkMonitor) {
        self.run = run
        self.options = options
        self.monitor = monitor
    }

    private var gatherer: FactsGatherer {
        FactsGatherer(old: run.run.old, new: run.run.new, options: options, monitor: monitor)
    }

    /// The content digest of what was shared; throws `verificationFailed` when the new store does not hold it.
    ///
    /// `hasOldContent` says that the old store still holds what was shared. A new store that its consumers have begun to
    /// write to can only be proved sound.
    func digest(hasOldContent: Bool) throws -> String {
        if let digest = run.provedDigest { return digest }
        try proveStructure()
        let found = try gatherer.digest(of: run.run.new)
        var expected = run.publication?.digest ?? run.replacement?.contentDigest
        if expected == nil, hasOldContent { expected = try gatherer.digest(of: run.run.old) }
        guard let expected, expected != found else { return found }
        // A run that switched history on added its tables to what was shared.
        if try gatherer.digestsWithoutHistory(of: run.run.new).contains(expected) { return expected }
        guard try isUntouched() else { return expected }
        throw failure("the new store does not hold what was shared")
    }

    /// True when nobody wrote to the new store since it appeared, as its size and time tell.
    func isUntouched() throws -> Bool {
        guard let publication = run.publication, let folder = try gatherer.folder(of: run.run.new) else { return false }
        let token = try folder.token(of: run.run.new.name)
        return token.main?.size == publication.size && token.main?.modified == publication.modified
            && !token.hasUnfinishedWork
    }

    /// What was wrong with the old store already is no failure of the new one.
    private func proveStructure() throws {
        let old = run.run.old
        guard try gatherer.status(of: old).map({ $0.size > 0 }) ?? false else {
            return try gatherer.reader.withView(of: run.run.new) { try proveStructure(of: $0, comparingWith: nil) }
        }
        try gatherer.reader.withView(of: old) { oldView in
            try gatherer.reader.withView(of: run.run.new) {
                try proveStructure(of: $0, comparingWith: oldView.connection)
            }
        }
    }

    private func proveStructure(of view: StoreView, comparingWith original: StoreConnection?) throws {
        do {
            _ = try StoreProver(options: options, monitor: monitor)
                .prove(
                    view.connection,
                    at: run.run.new,
                    as: run.run.new,
                    externalData: view.externalData,
                    comparingWith: original
                )
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            throw failure(error.message, error.findings)
        } catch let error as StoreError where [.damaged, .notADatabase, .emptyFile].contains(error.code) {
            throw failure(error.message)
        }
    }

    private func failure(_ message: String, _ findings: [Finding] = []) -> MigrationError {
        MigrationError(
            .verificationFailed,
            message,
            path: run.run.new.path,
            advice: "Both stores were kept, and \(run.run.old.path) takes writes again; use it, not the new one.",
            next: .verify(store: run.run.new.path),
            findings: findings,
            report: findings
        )
    }
}
