import FaultSupport
import Foundation

/// The commands that write, each with the judge of its promises.
enum Commands {
    /// Makes one judge; some look for their moment, or have archives made, which takes its time.
    private struct Maker {
        /// How the judge's name begins.
        let name: String
        /// False for another form of a command that is there in its plain form.
        let isPlain: Bool
        let make: () throws -> any Judge

        init(_ name: String, isPlain: Bool = true, _ make: @escaping @autoclosure () throws -> any Judge) {
            self.name = name
            self.isPlain = isPlain
            self.make = make
        }
    }

    /// Those whose names begin with some words, over Core Data stores, in one journal mode; all forms, or only the plain ones, or only the others.
    static func all(_ only: String = "", journalMode: String = "wal", isPlain: Bool? = nil) throws -> [any Judge] {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        func withoutHistory() throws -> StoreTemplate {
            try HabitTemplate.makeCoreData(journalMode: journalMode, tracksHistory: false)
        }
        func other() throws -> StoreTemplate { try HabitTemplate.makeOther(journalMode: journalMode) }
        func empty() throws -> StoreTemplate {
            try HabitTemplate.makeCoreData(journalMode: journalMode, isEmpty: true)
        }
        var makers = [
            Maker("share, ", ShareJudge(template: template)),
            Maker("capture, ", isPlain: false, ShareJudge(template: template, policy: .capture)),
            Maker("replace, ", isPlain: false, try ShareJudge(template: template, displaced: empty())),
            Maker(
                "described share, ",
                isPlain: false,
                try ShareJudge(template: withoutHistory(), described: DescribedShare())
            ),
            Maker("resume, ", try ResumeJudge(.beforePublishing, template: template)),
            Maker("resume, ", try ResumeJudge(.afterPublishing, template: template)),
            Maker("retire, ", RetireJudge(template: template)),
        ]
        makers += MergeJudge.Kind.allCases.map { kind in
            Maker(
                "\(kind.rawValue), ",
                isPlain: [.unshare, .merge].contains(kind),
                MergeJudge(kind: kind, template: template)
            )
        }
        makers += [
            Maker("backup, ", BackupJudge(template: template)),
            Maker("restore, ", try RestoreJudge(template: template)),
            Maker("restore, replacing, ", isPlain: false, try RestoreJudge(template: template, displaced: other())),
            Maker(
                "restore, clearing, ",
                isPlain: false,
                try RestoreJudge(template: template, displaced: other(), isDamaged: true)
            ),
            Maker("relay drain", try RelayDrainJudge(template: template)),
            Maker("relay post", isPlain: false, RelayPostJudge(template: template)),
        ]
        return try makers.filter { $0.name.hasPrefix(only) && isPlain ?? $0.isPlain == $0.isPlain }
            .map { try $0.make() }
    }

    /// False if the environment names another command, to look closer at that one alone.
    static func isChosen(_ judge: any Judge) -> Bool {
        ProcessInfo.processInfo.environment["STORE_MIGRATE_FAULT_COMMAND"].map { judge.name.hasPrefix($0) } ?? true
    }
}
