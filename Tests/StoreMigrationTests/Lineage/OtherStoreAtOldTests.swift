import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

/// Inode numbers are reused, so a file is the recorded one if it was also created at the recorded time.
@Suite("Whether the store at the old path is the shared one")
struct OtherStoreAtOldTests {
    private static let hour: Int64 = 3_600_000_000_000

    /// A captured pair with a late row, whose journal is written again with changed records.
    private func lives(
        birth change: (FileStatus.Time) -> FileStatus.Time?,
        clockBehindBy delay: Int64
    ) throws -> Lives {
        let lives = try Lives()
        try lives.share("a", "b")
        let folder = try StateFolder(of: lives.store("a"), stateFolder: nil).open()
        let records = try MigrationJournal.records(in: folder)
        try folder.removeFile(MigrationJournal.name)
        var journal = try MigrationJournal(in: folder)
        for record in records {
            switch record {
            case .begin(var run):
                run.oldBirth = change(try #require(run.oldBirth))
                try journal.append(.begin(run))
            case .done(let completion):
                let state = completion.oldState
                try journal.append(record)
                let reading = TokenReading(token: state.token, takenAt: state.takenAt - delay)
                try journal.append(.renewed(state.renewed(reading)))
            default: try journal.append(record)
            }
        }
        try lives.write("INSERT INTO t VALUES (3, 'late')", at: "a")
        return lives
    }

    @Test("Late writes are merged although the clock was behind the file's creation when the store was shared")
    func clockBehind() throws {
        let lives = try lives(birth: { $0 }, clockBehindBy: Self.hour)
        #expect(try lives.share("a", "b").outcome == .merged)
        #expect(try lives.values(at: "b") == ["one", "two", "late"])
    }

    @Test(
        "A file that was created at another time is another store, with any clock",
        arguments: [0, hour, -hour]
    )
    func otherBirth(_ delay: Int64) throws {
        let lives = try lives(
            birth: { FileStatus.Time(seconds: $0.seconds - 1, nanoseconds: $0.nanoseconds) },
            clockBehindBy: delay
        )
        #expect(try lives.share("a", "b").outcome == .bothHoldObjects)
        #expect(try lives.values(at: "b") == ["one", "two"])
    }

    @Test(
        "A record of an earlier version, without that time, takes a file that is younger than the record for another store"
    )
    func withoutBirth() throws {
        let same = try lives(birth: { _ in nil }, clockBehindBy: 0)
        #expect(try same.share("a", "b").outcome == .merged)
        let younger = try lives(birth: { _ in nil }, clockBehindBy: Self.hour)
        #expect(try younger.share("a", "b").outcome == .bothHoldObjects)
    }

    @Test("A copy of the store in its place has the store's UUID, and so its late writes are merged")
    func copied() throws {
        let world = try MergeWorld()
        let places = world.places
        try places.share(MergeWorld.capture)
        let former = try ScratchFolder()
        let folder = places.old.directory
        try folder.move(places.name, to: places.name, in: former.directory)
        for name in places.oldStore.sidecarNames where try folder.status(of: name) != nil {
            try folder.move(name, to: name, in: former.directory)
        }
        // The original still has its inode number, so that of the copy differs.
        try places.old.write(places.name, former.bytes(places.name))
        try world.add(3, "late", to: places.oldStore)

        #expect(try places.share(MergeWorld.capture).outcome == .merged)

        #expect(try world.content(of: places.newStore) == ["1 Run -: 1 2", "2 Read -:", "3 late : 3"])
    }
}
