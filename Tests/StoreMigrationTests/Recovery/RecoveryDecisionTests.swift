import SafeFiles
import Testing

@testable import StoreMigration

/// A journal, the destination's state, and the expected decision.
struct RecoveryCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let records: [JournalRecord]
    var main: FileIdentity?
    var digest: String?
    var isReplaced: Bool?
    let decision: RecoveryDecision

    private static let ours = FileIdentity(device: 1, inode: 7)
    private static let foreign = FileIdentity(device: 1, inode: 8)
    /// Device numbers change when file systems are mounted.
    private static let oursElsewhere = FileIdentity(device: 2, inode: 7)
    private static let token = FileToken(main: nil, writeAheadLog: nil, journal: nil)
    private static let begin = JournalRecord.begin(
        JournalRecord.RunIdentity(
            transaction: "t",
            old: .oldSample,
            oldIdentity: FileIdentity(device: 1, inode: 1),
            new: .newSample,
            policy: .fence
        )
    )
    private static let publishing = JournalRecord.publishing(
        JournalRecord.Publication(main: ours, externalFiles: [:], oldToken: token, digest: "d", size: 1, modified: nil)
    )
    private static let replacing = JournalRecord.replacing(
        JournalRecord.Replacement(
            main: ours,
            externalFiles: [:],
            oldToken: token,
            loserDigest: "loser",
            digest: "d",
            contentDigest: "c"
        )
    )
    /// Neither store was written to since they were equal.
    private static let replacingEqual = JournalRecord.replacing(
        JournalRecord.Replacement(
            main: ours,
            externalFiles: [:],
            oldToken: token,
            loserDigest: "d",
            digest: "d",
            contentDigest: "c"
        )
    )
    private static let replacingEmpty = JournalRecord.replacing(
        JournalRecord.Replacement(
            main: ours,
            externalFiles: [:],
            oldToken: token,
            loserDigest: nil,
            digest: "d",
            contentDigest: "c"
        )
    )

    /// A migration in place records no digest.
    private static let migrating = JournalRecord.replacing(
        JournalRecord.Replacement(
            main: ours,
            externalFiles: [:],
            oldToken: token,
            loserDigest: nil,
            digest: nil,
            contentDigest: nil
        )
    )

    static let all: [RecoveryCase] = [
        Self(testDescription: "begun only", records: [begin], decision: .back),
        Self(testDescription: "begun, something foreign appeared", records: [begin], main: foreign, decision: .back),
        Self(testDescription: "about to publish, nothing there", records: [begin, publishing], decision: .back),
        Self(
            testDescription: "about to publish, something foreign there",
            records: [begin, publishing],
            main: foreign,
            decision: .back
        ),
        Self(
            testDescription: "about to publish, and it is there",
            records: [begin, publishing],
            main: ours,
            decision: .forward
        ),
        Self(
            testDescription: "about to publish, and it is there after another mount",
            records: [begin, publishing],
            main: oursElsewhere,
            decision: .forward
        ),
        Self(
            testDescription: "replaced, and inspected after another mount",
            records: [begin, replacing, .published(ours)],
            main: oursElsewhere,
            decision: .forward
        ),
        Self(
            testDescription: "published",
            records: [begin, publishing, .published(ours)],
            main: ours,
            decision: .forward
        ),
        Self(
            testDescription: "published and fenced",
            records: [begin, publishing, .published(ours), .fenced],
            main: ours,
            decision: .forward
        ),
        Self(
            testDescription: "published, and gone again",
            records: [begin, publishing, .published(ours), .fenced],
            decision: .back
        ),
        Self(
            testDescription: "about to replace, the former content there",
            records: [begin, replacing],
            main: ours,
            digest: "loser",
            decision: .back
        ),
        Self(
            testDescription: "about to replace an empty file, still empty",
            records: [begin, replacingEmpty],
            main: ours,
            decision: .back
        ),
        Self(
            testDescription: "about to replace, the new content there",
            records: [begin, replacing],
            main: ours,
            digest: "d",
            decision: .forward
        ),
        Self(
            testDescription: "about to replace what is equal",
            records: [begin, replacingEqual],
            main: ours,
            digest: "d",
            decision: .back
        ),
        Self(
            testDescription: "replaced what is equal, and only the missing fence shows it",
            records: [begin, replacingEqual],
            main: ours,
            digest: "d",
            isReplaced: true,
            decision: .forward
        ),
        Self(
            testDescription: "replaced what is equal, and recorded",
            records: [begin, replacingEqual, .published(ours)],
            main: ours,
            digest: "d",
            decision: .forward
        ),
        Self(
            testDescription: "about to replace, something else there",
            records: [begin, replacing],
            main: ours,
            digest: "other",
            decision: .undecided
        ),
        Self(
            testDescription: "about to replace, and written to with the new model",
            records: [begin, replacing],
            main: ours,
            digest: "other",
            isReplaced: true,
            decision: .forward
        ),
        Self(
            testDescription: "about to migrate, and the new model is there",
            records: [begin, migrating],
            main: ours,
            isReplaced: true,
            decision: .forward
        ),
        Self(
            testDescription: "about to migrate, and the former model is there",
            records: [begin, migrating],
            main: ours,
            isReplaced: false,
            decision: .back
        ),
        Self(
            testDescription: "about to migrate, and the store is empty",
            records: [begin, migrating],
            main: ours,
            decision: .undecided
        ),
        Self(
            testDescription: "about to replace, and written to with the former model",
            records: [begin, replacing],
            main: ours,
            digest: "other",
            isReplaced: false,
            decision: .back
        ),
        Self(
            testDescription: "about to replace, the file is gone",
            records: [begin, replacing],
            decision: .back
        ),
        Self(
            testDescription: "replaced and recorded",
            records: [begin, replacing, .published(ours)],
            main: ours,
            digest: "a consumer wrote",
            decision: .forward
        ),
    ]
}

@Suite("Decisions on interrupted runs")
struct RecoveryDecisionTests {
    @Test("Every state that a crash can leave has its decision", arguments: RecoveryCase.all)
    func decision(_ row: RecoveryCase) throws {
        guard case .interrupted(let run) = RunState(row.records) else {
            Issue.record("the records describe no interrupted run")
            return
        }
        let observation = RecoveryDecision.Observation(main: row.main, digest: row.digest, isReplaced: row.isReplaced)
        #expect(RecoveryDecision(run, observation) == row.decision)
    }
}
