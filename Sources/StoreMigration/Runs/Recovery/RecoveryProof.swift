import SafeFiles
import StoreAccess
import StoreVerification

/// Proves the new store of a run that was interrupted after its commit point, with the run's own checks.
struct RecoveryProof {
    private let run: RunState.InterruptedRun
    private let level: VerificationLevel
    private let surroundings: Surroundings

    init(_ run: RunState.InterruptedRun, level: VerificationLevel, surroundings: Surroundings) {
        self.run = run
        self.level = level
        self.surroundings = surroundings
    }

    private var gatherer: FactsGatherer {
        FactsGatherer(old: run.run.old, new: run.run.new, surroundings: surroundings)
    }

    /// The digests of both stores' content at the end of the run.
    struct Content {
        let old: String
        /// Differs from the old store's when the run switched history on.
        let new: String
    }

    /// The shared content; throws `verificationFailed` when the new store lacks it.
    ///
    /// `hasOldContent` is true while the old store still has the shared content. A new store that consumers have
    /// written to can only be proved structurally sound; its digest at the time of the share is then not known.
    func content(hasOldContent: Bool) throws -> Content {
        if let migrated = run.publication?.migratedDigest ?? run.replacement?.migratedDigest {
            return try content(migrated: migrated)
        }
        // Only strategies make the copy differ from what was copied.
        if let digest = run.provedDigest, run.run.descriptions == nil { return Content(old: digest, new: digest) }
        if run.provedDigest == nil { try proveStructure() }
        let found = try gatherer.digest(of: run.run.new)
        var expected = run.provedDigest ?? run.publication?.digest ?? run.replacement?.contentDigest
        if expected == nil, hasOldContent { expected = try gatherer.digest(of: run.run.old) }
        guard let expected, expected != found else { return Content(old: found, new: found) }
        // A run that switched history on added tables to the shared content.
        if try gatherer.digestsWithoutHistory(of: run.run.new).contains(expected) {
            return Content(old: expected, new: found)
        }
        guard try run.provedDigest == nil && isUntouched() else { return Content(old: expected, new: expected) }
        throw failure("the new store lacks shared content")
    }

    /// The content after a migration: both digests are in the journal.
    private func content(migrated: String) throws -> Content {
        guard let old = run.provedDigest ?? run.publication?.digest ?? run.replacement?.contentDigest else {
            throw failure("the journal lacks the digest of the migrated store")
        }
        guard run.provedDigest == nil else { return Content(old: old, new: migrated) }
        try proveStructure()
        guard try isUntouched(), try gatherer.digest(of: run.run.new) != migrated else {
            return Content(old: old, new: migrated)
        }
        throw failure("the new store differs from the migrated copy")
    }

    /// True when no program wrote to the new store since publication, judged by size and time.
    func isUntouched() throws -> Bool {
        guard let publication = run.publication, let folder = try gatherer.folder(of: run.run.new) else { return false }
        let token = try folder.token(of: run.run.new.name)
        return token.main?.size == publication.size && token.main?.modified == publication.modified
            && !token.hasUnfinishedWork
    }

    /// A defect that the old store had already is not a failure of the new one.
    private func proveStructure() throws {
        let old = run.run.old
        guard try gatherer.status(of: old).map({ $0.size > 0 }) ?? false else {
            return try gatherer.reader.readForProof(run.run.new, upTo: level) {
                try proveStructure(of: $0, comparingWith: nil)
            }
        }
        try gatherer.reader.readForProof(old, upTo: level) { oldView in
            try gatherer.reader.readForProof(run.run.new, upTo: level) {
                try proveStructure(of: $0, comparingWith: oldView.connection)
            }
        }
    }

    private func proveStructure(of view: StoreView, comparingWith original: StoreConnection?) throws {
        do {
            _ = try StoreProver(level: level, monitor: surroundings.monitor)
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
            advice: "Use \(run.run.old.path), which is writable again, not the new store. Both were kept.",
            next: .verify(store: run.run.new.path),
            findings: findings,
            report: findings
        )
    }
}
