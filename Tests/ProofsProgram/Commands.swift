import FaultSupport

/// The commands that write, each with the judge of its guarantees.
enum Commands {
    /// The stores for the commands, all in one journal mode.
    private struct Stores {
        let journalMode: String
        let template: StoreTemplate

        init(journalMode: String) throws {
            self.journalMode = journalMode
            template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        }

        func withoutHistory() throws -> StoreTemplate {
            try HabitTemplate.makeCoreData(journalMode: journalMode, tracksHistory: false)
        }
        func other() throws -> StoreTemplate { try HabitTemplate.makeOther(journalMode: journalMode) }
        func empty() throws -> StoreTemplate {
            try HabitTemplate.makeCoreData(journalMode: journalMode, isEmpty: true)
        }
    }

    /// Makes one judge; some search for a commit point or make archives first, which takes time.
    private struct Maker: Sendable {
        /// The beginning of the judge's name.
        let name: String
        /// False for a variant of a command that is there in its plain form.
        let isPlain: Bool
        let make: @Sendable (Stores) throws -> any Judge

        init(_ name: String, isPlain: Bool = true, _ make: @escaping @Sendable (Stores) throws -> any Judge) {
            self.name = name
            self.isPlain = isPlain
            self.make = make
        }
    }

    private static let makers: [Maker] =
        [
            Maker("share, ") { ShareJudge(template: $0.template) },
            Maker("capture, ", isPlain: false) { ShareJudge(template: $0.template, policy: .capture) },
            Maker("replace, ", isPlain: false) { ShareJudge(template: $0.template, displaced: try $0.empty()) },
            Maker("described share, ", isPlain: false) {
                try ShareJudge(template: $0.withoutHistory(), described: DescribedShare())
            },
            Maker("share --migrate, ") {
                ShareJudge(template: $0.template, migration: try MigrateJudge(template: $0.template))
            },
            Maker("capture --migrate, copying, ", isPlain: false) {
                let migration = try MigrateJudge(template: $0.template, removesPicture: true)
                return ShareJudge(template: $0.template, policy: .capture, migration: migration)
            },
            Maker("replace --migrate, ", isPlain: false) {
                let migration = try MigrateJudge(template: $0.template)
                return ShareJudge(template: $0.template, displaced: try $0.empty(), migration: migration)
            },
            Maker("resume, ") { try ResumeJudge(.beforePublishing, template: $0.template) },
            Maker("resume, ") { try ResumeJudge(.afterPublishing, template: $0.template) },
            Maker("retire, ") { RetireJudge(template: $0.template) },
        ]
        + MergeJudge.Kind.allCases.map { kind in
            Maker("\(kind.rawValue), ", isPlain: [.unshare, .merge].contains(kind)) {
                MergeJudge(kind: kind, template: $0.template)
            }
        }
        + [
            Maker("backup, ") { BackupJudge(template: $0.template) },
            Maker("restore, ") { try RestoreJudge(template: $0.template) },
            Maker("restore, replacing, ", isPlain: false) {
                try RestoreJudge(template: $0.template, displaced: $0.other())
            },
            Maker("restore, clearing, ", isPlain: false) {
                try RestoreJudge(template: $0.template, displaced: $0.other(), isDamaged: true)
            },
            Maker("migrate, ") { try MigrateJudge(template: $0.template) },
            Maker("migrate, copying, ", isPlain: false) {
                try MigrateJudge(template: $0.template, removesPicture: true)
            },
            Maker("publish, ") { try PublishJudge(template: $0.template) },
            Maker("publish, replacing, ", isPlain: false) { try PublishJudge(template: $0.template, replaces: true) },
            Maker("publish, partial, replacing, ", isPlain: false) {
                try PublishJudge(template: $0.template, replaces: true, isPartial: true)
            },
            Maker("relay drain") { try RelayDrainJudge(template: $0.template) },
            Maker("relay post", isPlain: false) { RelayPostJudge(template: $0.template) },
        ]

    /// The beginnings of all names.
    static var names: [String] { makers.map(\.name) }

    /// The judges whose names begin with `only`, over Core Data stores, in one journal mode.
    ///
    /// `isPlain` selects the plain forms or the variants; nil selects both.
    static func all(_ only: String = "", journalMode: String = "wal", isPlain: Bool? = nil) throws -> [any Judge] {
        let stores = try Stores(journalMode: journalMode)
        return try makers.filter { $0.name.hasPrefix(only) && isPlain ?? $0.isPlain == $0.isPlain }
            .map { try $0.make(stores) }
    }
}
