import SafeFiles
import StoreAccess
import StoreFixtures
import StoreVerification
import TestSupport

/// A rollback journal beside a main file: rolled back in a private copy, and never in place.
final class JournalTarget: FuzzTarget {
    static let name = "journal"
    static let mostBytes = 48 << 10
    static let words = DatabaseTarget.words + ["/dev/shm/x-mj0000", "S.sqlite-mj00000001"]

    private static let recipe = """
        seed: journal
        options: {journalMode: rollback, pageSize: 512}
        sql:
          - CREATE TABLE entry (id INTEGER PRIMARY KEY, value TEXT NOT NULL)
          - {statement: "INSERT INTO entry VALUES ({n}, 'committed ' || printf('%0030d', {n}))", repeat: 40}
        damage:
          - hotJournal:
              - UPDATE entry SET value = 'uncommitted ' || printf('%0030d', id)
              - "INSERT INTO entry SELECT id + 1000, 'uncommitted ' || value FROM entry"
        """

    private let folder: Directory
    private let location: StoreLocation
    private let main: [UInt8]

    init(in folder: Directory) throws {
        main = try BuiltStore(recipe: Self.recipe, in: folder).main
        self.folder = try folder.createDirectory("store", mode: 0o700)
        location = StoreLocation(folder: self.folder.path, name: "S.sqlite")
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let own = try BuiltStore(recipe: recipe, in: source.scratch).journal
        return [own] + (try source.storeFiles().filter { $0.name.hasSuffix("-journal") }.map(\.bytes))
    }

    func run(_ bytes: [UInt8]) throws {
        defer { folder.removeContents() }
        try folder.put(main, location.name)
        try folder.put(bytes, location.journalName)
        try location.examine()
        guard try folder.contents(of: location.name, limit: 1 << 20) == main,
            try folder.contents(of: location.journalName, limit: 1 << 20) == bytes
        else { Fuzzing.fail("a read-only operation changed the store") }
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        JournalChanges.changed(bytes, limit: limit, using: &generator)
    }
}
