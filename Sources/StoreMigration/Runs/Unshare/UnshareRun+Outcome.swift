import SafeFiles
import StoreAccess

/// What an unshare reports.
extension UnshareRun {
    /// How the withdrawal of the new store ended.
    enum Withdrawal {
        case done(path: String, [Finding])
        case refused(MigrationError)
    }

    func outcome(
        _ result: RunResult?,
        _ transaction: String,
        _ withdrawal: Withdrawal,
        _ late: ShareOutcome?,
        _ leftovers: [Finding] = []
    ) -> ShareOutcome {
        var findings = (late?.findings ?? []) + (result?.findings ?? []) + leftovers
        if let former = (try? reverseShare.keptAside(transaction)) ?? nil {
            let message = "what the old place held is kept aside whole"
            findings.append(Finding(.storeKeptAside, .info, level: .files, message, path: former.path))
        }
        var place = new.path
        var next: NextStep?
        switch withdrawal {
        case .done(let path, let kept):
            place = path
            findings += kept
        case .refused(let error):
            next = .unshare(old: old.path, new: new.path)
            findings.append(
                Finding(
                    .notWithdrawn,
                    .warning,
                    level: .files,
                    "the new store was not renamed and is fenced: \(error.message)",
                    path: new.path
                )
            )
        }
        return ShareOutcome(
            outcome: .unshared,
            transaction: transaction,
            old: ShareOutcome.Side(path: old.path, uuid: nil, objects: result?.objects, digest: result?.digest),
            new: ShareOutcome.Side(path: place, uuid: nil, objects: nil, digest: nil),
            merge: late?.merge,
            report: result?.report,
            findings: findings,
            message: "the old store has the new one's content and is writable again",
            next: next
        )
    }
}
