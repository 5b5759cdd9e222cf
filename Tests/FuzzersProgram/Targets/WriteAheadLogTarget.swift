import SafeFiles
import StoreAccess
import StoreFixtures
import StoreFormat
import StoreVerification
import TestSupport

/// A log beside a sound main file: read through a private copy, and through a snapshot, which must agree.
final class WriteAheadLogTarget: FuzzTarget {
    static let name = "wal"
    static let mostBytes = 64 << 10
    static let words = DatabaseTarget.words

    /// Small pages, rows in the log and rows in the main file.
    private static let recipe = """
        seed: wal
        options: {journalMode: wal, pageSize: 512, leftInWriteAheadLog: rows}
        model:
          entities:
            Book:
              attributes: {title: string, pages: integer32}
              relationships:
                shelf: {to: Shelf, inverse: books}
            Shelf:
              attributes: {room: string}
              relationships:
                books: {to: Book, inverse: shelf, many: true}
        saves:
          - at: 2026-03-01
            insert:
              - {entity: Shelf, name: shelf, values: {room: "cellar"}}
              - {entity: Book, name: "book{n}", repeat: 12, values: {title: "Book {n}", pages: {start: 10, step: 7}, shelf: shelf}}
        """

    private let folder: Directory
    private let target: Directory
    private let location: StoreLocation
    private let main: [UInt8]

    init(in folder: Directory) throws {
        main = try BuiltStore(recipe: Self.recipe, in: folder).main
        self.folder = try folder.createDirectory("store", mode: 0o700)
        target = try folder.createDirectory("snapshot", mode: 0o700)
        location = StoreLocation(folder: self.folder.path, name: "S.sqlite")
    }

    static func seeds(from source: SeedSource) throws -> [[UInt8]] {
        let own = try BuiltStore(recipe: recipe, in: source.scratch).log
        // Logs of other stores match in page size only.
        return [own] + (try source.storeFiles().filter { $0.name.hasSuffix("-wal") }.map(\.bytes))
    }

    func run(_ bytes: [UInt8]) throws {
        defer {
            folder.removeContents()
            target.removeContents()
        }
        try folder.put(main, location.name)
        try folder.put(bytes, location.writeAheadLogName)
        let digest = try location.examine()
        guard let digest, let other = try followed() else { return }
        guard digest == other else { Fuzzing.fail("a snapshot has another content than the store") }
    }

    /// The content digest of a snapshot of the store in use.
    private func followed() throws -> StoreDigest? {
        let open = { try StoreConnection(self.location, access: .liveReading, lockTimeout: .zero) }
        let source = try open()
        defer { try? source.close() }
        guard try source.value("PRAGMA journal_mode")?.text == "wal" else { return nil }
        let file = try target.createFile("T.sqlite", mode: 0o600)
        let holder = try open()
        defer { try? holder.close() }
        let snapshot = WriteAheadLogSnapshot(
            source: source,
            holder: holder,
            target: file,
            pageSize: Int(try source.value("PRAGMA page_size")?.integer ?? 0)
        )
        try snapshot.copy(monitor: .silent)
        let isSettled = try snapshot.settle()
        holder.rollback()
        source.rollback()
        try file.close()
        let copy = StoreLocation(folder: target.path, name: "T.sqlite")
        guard isSettled,
            case .store(let inspection) = try StoreInspector(depth: .digest, lockTimeout: .zero).inspect(copy)
        else { return nil }
        return inspection.digest
    }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? {
        guard var log = LogChanges(bytes) else { return nil }
        log.change(limit: limit, using: &generator)
        return log.bytes
    }
}
