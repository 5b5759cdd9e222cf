import SafeFiles
import StoreAccess
import StoreFormat
import Testing

@testable import StoreMigration

/// One row of the decision table.
struct PlannerCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let old: StoreCondition
    let new: StoreCondition
    var isMainFileAtNew = true
    var earlier: PlanningFacts.EarlierRun?
    var areContentsEqual: Bool?
    var onBoth = ShareOptions.BothPlacesPolicy.fail
    let outcome: MigrationOutcome
    let actions: [PlanStep.Action]
    var finding: Finding.Code?

    private static let publishing: [PlanStep.Action] = [.stage, .prove, .publish, .fence, .writeReceipt]
    private static let replacing: [PlanStep.Action] = [
        .stage, .prove, .copyAside, .replaceContent, .fence, .writeReceipt,
    ]

    private static func run(
        _ place: PlanningFacts.EarlierRun.NewPlace,
        isOldUnchanged: Bool
    ) -> PlanningFacts.EarlierRun {
        PlanningFacts.EarlierRun(transaction: "t", newPlace: place, isOldUnchanged: isOldUnchanged)
    }

    static let all: [PlannerCase] = [
        Self(
            testDescription: "a store, and nothing",
            old: .store(.sample(objects: 3)),
            new: .absent,
            isMainFileAtNew: false,
            outcome: .shared,
            actions: publishing
        ),
        Self(
            testDescription: "a store without objects, and nothing",
            old: .store(.sample(objects: 0)),
            new: .absent,
            isMainFileAtNew: false,
            outcome: .shared,
            actions: publishing
        ),
        Self(
            testDescription: "nothing, and a store",
            old: .absent,
            new: .store(.sample(objects: 3)),
            outcome: .alreadyShared,
            actions: []
        ),
        Self(
            testDescription: "nothing at either place",
            old: .absent,
            new: .absent,
            isMainFileAtNew: false,
            outcome: .nothingFound,
            actions: []
        ),
        Self(
            testDescription: "an empty file counts as nothing",
            old: .emptyFile,
            new: .absent,
            isMainFileAtNew: false,
            outcome: .nothingFound,
            actions: [],
            finding: .emptyFile
        ),
        Self(
            testDescription: "shared by us and unchanged",
            old: .store(.sample(objects: 3, isFenced: true)),
            new: .store(.sample(objects: 3)),
            earlier: run(.ours, isOldUnchanged: true),
            outcome: .alreadyShared,
            actions: []
        ),
        Self(
            testDescription: "shared by us and changed since",
            old: .store(.sample(objects: 4, isFenced: true)),
            new: .store(.sample(objects: 3)),
            earlier: run(.ours, isOldUnchanged: false),
            outcome: .lateWrites,
            actions: [],
            finding: .lateWrites
        ),
        Self(
            testDescription: "fenced by us, and the new store is gone",
            old: .store(.sample(objects: 3, isFenced: true)),
            new: .absent,
            isMainFileAtNew: false,
            earlier: run(.absent, isOldUnchanged: true),
            outcome: .shared,
            actions: [.liftFence] + publishing,
            finding: .sharedStoreMissing
        ),
        Self(
            testDescription: "fenced by us, and the new store is not ours",
            old: .store(.sample(objects: 3, isFenced: true)),
            new: .store(.sample(objects: 3)),
            earlier: run(.notOurs, isOldUnchanged: true),
            outcome: .needsDecision,
            actions: []
        ),
        Self(
            testDescription: "shared by us to another place that is still there",
            old: .store(.sample(objects: 3, isFenced: true)),
            new: .absent,
            isMainFileAtNew: false,
            earlier: run(.elsewhere("/other"), isOldUnchanged: true),
            outcome: .needsDecision,
            actions: []
        ),
        Self(
            testDescription: "equal content",
            old: .store(.sample(objects: 3)),
            new: .store(.sample(objects: 3)),
            areContentsEqual: true,
            outcome: .alreadyShared,
            actions: [.fence, .writeReceipt]
        ),
        Self(
            testDescription: "objects, and a store without objects",
            old: .store(.sample(objects: 3)),
            new: .store(.sample(objects: 0)),
            outcome: .shared,
            actions: replacing,
            finding: .emptyStoreKeptAside
        ),
        Self(
            testDescription: "objects, and an empty file",
            old: .store(.sample(objects: 3)),
            new: .emptyFile,
            outcome: .shared,
            actions: replacing,
            finding: .emptyStoreKeptAside
        ),
        Self(
            testDescription: "a store without objects, and one with",
            old: .store(.sample(objects: 0)),
            new: .store(.sample(objects: 3)),
            outcome: .alreadyShared,
            actions: [.fence, .writeReceipt]
        ),
        Self(
            testDescription: "both without objects",
            old: .store(.sample(objects: 0)),
            new: .store(.sample(objects: 0)),
            outcome: .alreadyShared,
            actions: [.fence, .writeReceipt]
        ),
        Self(
            testDescription: "both with objects",
            old: .store(.sample(objects: 3)),
            new: .store(.sample(objects: 4)),
            outcome: .bothHoldObjects,
            actions: []
        ),
        Self(
            testDescription: "both with objects, the old ones to be kept",
            old: .store(.sample(objects: 3)),
            new: .store(.sample(objects: 4)),
            onBoth: .keepOld,
            outcome: .shared,
            actions: replacing,
            finding: .storeKeptAside
        ),
        Self(
            testDescription: "both with objects, the new ones to be kept",
            old: .store(.sample(objects: 3)),
            new: .store(.sample(objects: 4)),
            onBoth: .keepNew,
            outcome: .alreadyShared,
            actions: [.fence, .writeReceipt]
        ),
        Self(
            testDescription: "kinds differ",
            old: .store(.sample(objects: 3)),
            new: .store(.sample(objects: 0, kind: .coreData)),
            outcome: .incompatible,
            actions: []
        ),
        Self(
            testDescription: "models differ",
            old: .store(.sample(objects: 3, kind: .coreData, modelHash: 1)),
            new: .store(.sample(objects: 0, kind: .coreData, modelHash: 2)),
            outcome: .incompatible,
            actions: []
        ),
        Self(
            testDescription: "a database without tables fits any kind",
            old: .store(.sample(objects: 3, kind: .coreData)),
            new: .store(.sample(objects: nil)),
            outcome: .shared,
            actions: replacing,
            finding: .emptyStoreKeptAside
        ),
        Self(
            testDescription: "only a log at the old place",
            old: .orphanSidecar(names: ["store-wal"]),
            new: .absent,
            isMainFileAtNew: false,
            outcome: .orphanSidecar,
            actions: []
        ),
        Self(
            testDescription: "only a log at the new place",
            old: .store(.sample(objects: 3)),
            new: .orphanSidecar(names: ["store-wal"]),
            isMainFileAtNew: false,
            outcome: .shared,
            actions: [.stage, .prove, .moveSidecarsAside, .publish, .fence, .writeReceipt],
            finding: .sidecarsMovedAside
        ),
        Self(
            testDescription: "an empty file beside a log at the new place",
            old: .store(.sample(objects: 3)),
            new: .orphanSidecar(names: ["store-wal"]),
            outcome: .shared,
            actions: replacing,
            finding: .emptyStoreKeptAside
        ),
        Self(
            testDescription: "the old store cannot be read",
            old: .unreadable(.sample(.permission)),
            new: .absent,
            isMainFileAtNew: false,
            outcome: .foundButUnreadable,
            actions: []
        ),
        Self(
            testDescription: "the new store cannot be read",
            old: .absent,
            new: .unreadable(.sample(.notADatabase)),
            outcome: .foundButUnreadable,
            actions: []
        ),
        Self(
            testDescription: "the old store is locked",
            old: .unreadable(.sample(.locked)),
            new: .absent,
            isMainFileAtNew: false,
            outcome: .busy,
            actions: []
        ),
    ]
}

@Suite("Planning a share")
struct SharePlannerTests {
    @Test("Every row of the decision table yields its plan", arguments: PlannerCase.all)
    func decision(_ row: PlannerCase) {
        var options = ShareOptions()
        options.onBoth = row.onBoth
        let facts = PlanningFacts(
            old: .oldSample,
            new: .newSample,
            oldCondition: row.old,
            newCondition: row.new,
            isMainFileAtNew: row.isMainFileAtNew,
            earlierRun: row.earlier,
            areContentsEqual: row.areContentsEqual
        )

        let plan = SharePlanner(facts: facts, options: options).plan()

        #expect(plan.outcome == row.outcome)
        #expect(plan.steps.map(\.action) == row.actions)
        if let finding = row.finding { #expect(plan.findings.contains { $0.code == finding }) }
        if plan.outcome.exitStatus == 4 { #expect(plan.next != nil) }
    }

    @Test("The plan of a capture keeps the base and fences nothing")
    func capture() {
        var options = ShareOptions()
        options.oldStore = .capture
        let facts = PlanningFacts(
            old: .oldSample,
            new: .newSample,
            oldCondition: .store(.sample(objects: 3)),
            newCondition: .absent
        )

        let plan = SharePlanner(facts: facts, options: options).plan()

        #expect(plan.steps.map(\.action) == [.stage, .prove, .publish, .keepBase, .writeReceipt])
    }

    @Test("Content is compared only when the decision depends on it")
    func comparison() {
        func needsComparison(_ old: StoreInspection, _ new: StoreInspection) -> Bool {
            PlanningFacts(
                old: .oldSample,
                new: .newSample,
                oldCondition: .store(old),
                newCondition: .store(new)
            )
            .needsContentComparison
        }
        #expect(needsComparison(.sample(objects: 3), .sample(objects: 3)))
        #expect(!needsComparison(.sample(objects: 3), .sample(objects: 4)))
        #expect(!needsComparison(.sample(objects: 0), .sample(objects: 0)))
        #expect(!needsComparison(.sample(objects: 3), .sample(objects: 3, kind: .coreData)))
    }

    @Test("Two stores fit if their version hashes are equal, or if one of them has none")
    func fitting() {
        func store(_ modelHash: UInt8?) -> StoreInspection {
            .sample(objects: 3, kind: .coreData, modelHash: modelHash)
        }
        #expect(store(1).fits(store(1)))
        #expect(!store(1).fits(store(2)))
        #expect(store(nil).fits(store(1)))
        #expect(store(1).fits(store(nil)))
    }

    @Test("The plan beside a run at work names the holders, and leads to the status of both stores")
    func atWork() {
        let plan = SharePlan(atWork: "t", [7], old: .oldSample, new: .newSample)
        #expect(plan.outcome == .busy)
        #expect(plan.findings.first?.message.contains("7") == true)
        #expect(plan.next == .status(old: "/old/store", new: "/new/store"))
    }
}
