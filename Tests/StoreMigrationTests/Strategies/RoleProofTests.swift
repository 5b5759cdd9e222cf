import BuiltInStrategies
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The proof that every role can open the copy as described")
struct RoleProofTests {
    @Test("A copy without the history that a role requires fails the proof")
    func noHistory() throws {
        let world = try DescribedWorld()
        let places = world.places
        let steps = try ["HistoryTracking", "ReadOnlyExtension"]
            .map { try StrategySelection($0).step(among: BuiltInStrategies.all) }
        let inspection = try #require(try StoreInspector(depth: .layout).inspect(places.oldStore).inspection)
        let described = try DescribedStore(
            // A role that may write would create the history when it opens the store.
            asking: StrategyPipeline(steps, roles: [ProgramRole(.extension("widget"))]),
            StrategyQuestion(inspection, isCopied: true, at: places.newStore, in: places.container.directory)
        )
        let proof = RoleProof(described: described, place: places.newStore)
        let folder = places.old.directory
        let error = #expect(throws: MigrationError.self) {
            let main = try folder.openFile(places.name, for: .writing)
            defer { try? main.close() }
            try proof.require(at: places.oldStore, in: folder, main: main)
        }
        #expect(error?.outcome == .verificationFailed)
        #expect(error?.message.contains("isHistoryTrackingEnabled is false for extension(widget)") == true)
        #expect(error?.path == places.newStore.path)
    }

    @Test("A copy that changed after its roles were proved is proved for them again", arguments: ["wal", "delete"])
    func changedSince(mode: String) throws {
        let world = try DescribedWorld(mode: mode)
        let places = world.places
        let onProgress: @Sendable (StoreProgress) -> Void = { progress in
            guard progress.phase == .publishing, progress.done == 0 else { return }
            // Without its model, no role can write to the store.
            do { try places.execute("DELETE FROM Z_MODELCACHE") } catch { Issue.record(error) }
        }
        let error = #expect(throws: MigrationError.self) {
            try world.share(["SharedAccess:mode=0640"], onProgress: onProgress)
        }
        #expect(error?.outcome == .verificationFailed, "\(error.map { "\($0)" } ?? "shared")")
        #expect(error?.message.contains("isReadOnly is true for app") == true, "\(error?.message ?? "")")
        #expect(try places.container.directory.entries().isEmpty)
        #expect(try !places.isFenced(places.oldStore))
    }
}
