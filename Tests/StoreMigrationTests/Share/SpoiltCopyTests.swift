import SafeFiles
import StoreAccess
import StoreFixtures
import TestSupport
import Testing

@testable import StoreMigration

/// Damage by a disk or another program between the copy's writing and its proof.
@Suite("A copy that differs from its original")
struct SpoiltCopyTests {
    /// Damage that leaves the copy a sound store.
    struct Spoilage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// A word of the expected refusal.
        let word: String
        let spoil: @Sendable (_ staging: Directory, _ main: String) throws -> Void

        static let row = Spoilage(testDescription: "another value in a row", word: "content") { staging, main in
            try overwrite(main, in: staging, "Small", "Smell")
        }
        static let externalFile = Spoilage(testDescription: "another external file", word: "external") { staging, _ in
            let folder = try staging.openDirectory("external")
            for name in try folder.entries() { try overwrite(name, in: folder, "large", "larger") }
        }

        private static func overwrite(_ name: String, in folder: Directory, _ old: String, _ new: String) throws {
            let file = try folder.openFile(name, for: .writing)
            let bytes = try folder.contents(of: name, limit: 1 << 30)
            let place = try #require(bytes.firstRange(of: Array(old.utf8)))
            try Array(new.utf8).withUnsafeBytes { try file.write($0, at: Int64(place.lowerBound)) }
            try file.close()
        }
    }

    /// Shares, and spoils the copy when it is first proved.
    private func share(
        _ world: DescribedWorld,
        _ strategies: [String],
        _ spoilage: Spoilage
    ) throws -> Result<ShareOutcome, any Error> {
        let places = world.places
        let spoiling = Once()
        let container = try Directory.open(path: places.container.path)
        let onProgress: @Sendable (StoreProgress) -> Void = { progress in
            guard progress.phase == .proving, spoiling.isFirst() else { return }
            do {
                let name = try #require(container.entries().first { $0.hasPrefix(".store-migrate-") })
                try spoilage.spoil(container.openDirectory(name), places.name)
            } catch {
                Issue.record(error)
            }
        }
        let result = Result { try world.share(strategies, onProgress: onProgress) }
        #expect(!spoiling.isFirst())
        return result
    }

    @Test(
        "A copy that differs from its original fails the proof, and nothing is published or changed",
        arguments: [Spoilage.row, .externalFile],
        [[], ["SharedAccess:mode=0640"]]
    )
    func refused(_ spoilage: Spoilage, strategies: [String]) throws {
        let world = try DescribedWorld(recipe: "external-data")
        let places = world.places
        let before = try places.digest(of: places.oldStore)
        let result = try share(world, strategies, spoilage)
        let error = #expect(throws: MigrationError.self) { try result.get() }
        #expect(error?.outcome == .verificationFailed)
        #expect(error?.message.contains(spoilage.word) == true, "\(error?.message ?? "")")
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try places.digest(of: places.oldStore) == before)
        #expect(try places.share().outcome == .shared)
        #expect(try places.digest(of: places.newStore) == before)
    }

    @Test("A published store that fails its proof does not count as a copy, and the old store is writable again")
    func spoiltAfterTheProof() throws {
        let places = try Places()
        try places.old.makeStore(
            "PRAGMA journal_mode=wal; CREATE TABLE t (x); CREATE TABLE later (x); INSERT INTO t VALUES ('Small')"
        )
        let container = try Directory.open(path: places.container.path)
        let onProgress: @Sendable (StoreProgress) -> Void = { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            do {
                let name = try #require(container.entries().first(where: StagingOrigin.isFolder))
                try Spoilage.row.spoil(container.openDirectory(name), places.name)
                // Without a change after its proof, the copy would not be proved again.
                try places.execute("INSERT INTO later VALUES (1)")
            } catch {
                Issue.record(error)
            }
        }
        let error = #expect(throws: MigrationError.self) { try places.share(onProgress: onProgress) }
        #expect(error?.outcome == .verificationFailed)
        #expect(error?.advice.contains(places.oldStore.path) == true)
        #expect(error?.next == .verify(store: places.newStore.path))
        #expect(try !places.isFenced(places.oldStore))
        #expect(try places.count("SELECT count(*) FROM t, later WHERE t.x = 'Small'", in: places.oldStore) == 1)
        #expect(try RunState(places.records()) == .none)
        #expect(try !container.entries().contains(where: StagingOrigin.isFolder))
    }
}
