import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of a backup")
struct BackupJudgeTests {
    private static let archive = "archives/\(BackupJudge.archive)"

    static let places: [SpoiltPlace] = [
        .removed(archive, "there is no archive", "archive"),
        .replaced(archive, "half an archive is there", "the archive is not whole") { Array($0.prefix($0.count / 2)) },
        .replaced(archive, "one byte of the archive is another", "archive") { bytes in
            bytes.enumerated().map { $0.offset == bytes.count / 2 ? ~$0.element : $0.element }
        },
        SpoiltPlace("another store is in the archive", "the store in the archive differs") { scratch in
            let bytes = try archive(of: HabitTemplate.makeOther(journalMode: "wal"))
            try scratch.root.openDirectory("archives").replace(BackupJudge.archive, with: bytes, mode: 0o600)
        },
        SpoiltPlace("an external file is not in the archive", "an external file in the archive differs") { scratch in
            let script = """
                cd "$1" && zstd -dcq "$2" | tar --delete --wildcards '*_EXTERNAL_DATA/*-*' | zstd -q -o less && mv less "$2"
                """
            let command = Command(
                executable: "/bin/sh",
                arguments: ["-c", script, "sh", scratch.path + "/archives", BackupJudge.archive],
                environment: ["PATH": "/usr/bin:/bin"]
            )
            let output = scratch.privatePath + "/less"
            try #require(command.run(output: output, deadline: Deadline(after: .seconds(60))) == .exited(0))
        },
        .store("old/Habits.sqlite", "the store has lost an object", "the store differs", "DELETE FROM ZHABIT"),
        .removed("old/.Habits_SUPPORT/*", "an external file of the store is gone", "an external file is missing"),
        .left("archives/.store-migrate-backup-1", "half an archive was left"),
        .left("old/.store-migrate", "something was left beside the store"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    /// The archive of another store.
    private static func archive(of template: StoreTemplate) throws -> [UInt8] {
        let scratch = try SpoiltPlace.finished(BackupJudge(template: template))
        return try scratch.root.openDirectory("archives").contents(of: BackupJudge.archive, limit: 1 << 24)
    }

    @Test("The judge has no objection to a correct backup", arguments: ["wal", "delete"])
    func right(_ journalMode: String) throws {
        try SpoiltPlace.expectContent(BackupJudge(template: HabitTemplate.makeCoreData(journalMode: journalMode)))
    }

    @Test("The judge objects to every fault of a backup", arguments: places)
    func wrong(_ place: SpoiltPlace) throws {
        try place.expectObjection(of: BackupJudge(template: HabitTemplate.makeCoreData(journalMode: "wal")))
    }
}
