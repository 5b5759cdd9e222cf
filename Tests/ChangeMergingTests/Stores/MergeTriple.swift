import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

/// A base and two copies of it that are changed independently, in a folder that is removed with the test.
final class MergeTriple {
    let folder: TemporaryDirectory
    let model: ManagedObjectModel
    private(set) var stores: [String: MergeStore] = [:]

    /// Builds the base; `prepare` inserts its first objects.
    init(_ model: ManagedObjectModel, tracksHistory: Bool = true, _ prepare: (MergeStore) throws -> Void) throws {
        folder = try TemporaryDirectory(prefix: "merge-tests")
        self.model = model
        var options = StoreBuilder.Options()
        options.tracksHistory = tracksHistory
        let builder = try StoreBuilder(model, uuid: "2E3E5F3E-1DB3-4B0E-8A6B-0F0A3D0C9A11", options: options)
        let location = StoreLocation(folder: folder.directory.path, name: "base.sqlite")
        let connection = try builder.build(at: location, in: folder.directory)
        try connection.close()
        let base = try MergeStore(location, in: folder.directory, model)
        try prepare(base)
        try base.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        stores["base"] = base
        for name in ["old", "shared"] {
            let file = try folder.directory.createFile(name + ".sqlite", mode: 0o644)
            try folder.directory.contents(of: "base.sqlite", limit: 1 << 28)
                .withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
            let location = StoreLocation(folder: folder.directory.path, name: name + ".sqlite")
            let store = try MergeStore(location, in: folder.directory, model)
            store.clock = name == "old" ? 1000 : 2000
            stores[name] = store
            guard let files = try ExternalData.open(of: base.location, in: folder.directory) else { continue }
            let writer = ExternalDataWriter(location, in: folder.directory, identifiers: SeededIdentifiers(seed: name))
            for file in try files.entries() { try writer.write(files.contents(of: file, limit: 1 << 28), as: file) }
        }
    }

    deinit {
        stores = [:]
        folder.remove()
    }

    func store(_ name: String) throws -> MergeStore {
        guard let store = stores[name] else { throw StoreError(.notFound, path: name, "no such store") }
        return store
    }

    func sides() throws -> MergeSides {
        MergeSides(base: try store("base").side(), old: try store("old").side(), shared: try store("shared").side())
    }

    /// Makes the old store's present state the base of the next merge; `withFiles` is false for its database alone.
    func renewBase(withFiles: Bool = true) throws {
        let old = try store("old")
        let name = "base \(stores.count).sqlite"
        let location = StoreLocation(folder: folder.directory.path, name: name)
        try old.connection.execute("VACUUM INTO '\(location.path)'")
        if withFiles, let files = try ExternalData.open(of: old.location, in: folder.directory) {
            let writer = ExternalDataWriter(location, in: folder.directory, identifiers: SeededIdentifiers(seed: name))
            for file in try files.entries() { try writer.write(files.contents(of: file, limit: 1 << 28), as: file) }
        }
        stores["base"] = try MergeStore(location, in: folder.directory, model)
    }

    func plan(_ settings: MergeSettings = MergeSettings(), moved: [RekeyedObject] = []) throws -> ManagedMerge {
        let merger = StoreMerger(
            base: try store("base").place(),
            old: try store("old").place(),
            shared: try store("shared").place(),
            moved: moved,
            settings: settings
        )
        guard let plan = try merger.plan() as? ManagedMerge else {
            throw StoreError(.failed, path: folder.directory.path, "the stores are not merged as Core Data's")
        }
        return plan
    }

    /// Plans and executes a merge of the old store into the shared one.
    @discardableResult
    func merge(
        _ settings: MergeSettings = MergeSettings(),
        epoch: String = "1",
        park: @escaping (ParkedRow) throws -> Void = { _ in }
    ) throws -> (plan: MergePlan, result: MergeResult) {
        let merge = try plan(settings)
        return (
            merge.plan, try merge.carryOut(MergeRun(epoch: epoch, deadline: Deadline(after: .seconds(60)), park: park))
        )
    }

    /// Merges the old store into the shared one; returns the record for a rollback.
    func recordedMerge() throws -> DurableFile {
        let shared = try store("shared")
        let file = try folder.directory.createFile("record", mode: 0o600)
        let run = MergeRun(
            epoch: "1",
            deadline: Deadline(after: .seconds(60)),
            record: { try ChangesetRecording($0, externalData: shared.externalData(), to: file) }
        )
        #expect(try plan().carryOut(run).outcome == .merged)
        return try folder.directory.openFile("record", for: .reading)
    }
}
