import FaultSupport
import Foundation

/// The commands that write, each with the judge of its promises.
enum Commands {
    /// Those whose names contain a word, over Core Data stores, in one journal mode.
    static func all(_ only: String = "", journalMode: String = "wal") throws -> [any Judge] {
        try all(journalMode).filter { only.isEmpty || $0.name.contains(only) }
    }

    private static func all(_ journalMode: String) throws -> [any Judge] {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let other = try HabitTemplate.makeOther(journalMode: journalMode)
        let empty = try HabitTemplate.makeCoreData(journalMode: journalMode, isEmpty: true)
        return try [
            ShareJudge(template: template), ShareJudge(template: template, policy: .capture),
            ShareJudge(template: template, displaced: empty),
            ShareJudge(
                template: HabitTemplate.makeCoreData(journalMode: journalMode, tracksHistory: false),
                described: DescribedShare()
            ),
            ResumeJudge(.beforePublishing, template: template),
            ResumeJudge(.afterPublishing, template: template), RetireJudge(template: template),
        ] + MergeJudge.Kind.allCases.map { MergeJudge(kind: $0, template: template) } + [
            BackupJudge(template: template), RestoreJudge(template: template),
            RestoreJudge(template: template, displaced: other), RelayDrainJudge(template: template),
        ]
    }

    /// False if the environment names another command, to look closer at that one alone.
    static func isChosen(_ judge: any Judge) -> Bool {
        ProcessInfo.processInfo.environment["STORE_MIGRATE_FAULT_COMMAND"].map { judge.name.hasPrefix($0) } ?? true
    }
}
