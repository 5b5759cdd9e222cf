import Benchmark
import Foundation

/// Migrates a million objects to a version that adds one attribute and renames another; the peer copies the store.
func migrationBenchmarks() {
    Benchmark(
        "Migrating 1 M rows, one attribute added and one renamed",
        configuration: configuration([ratio, ours, peers, memory], iterations: 5)
    ) { (benchmark: Benchmark, stores: (things: ObjectStore, model: URL)) in
        let folder = try SampleStore.emptyFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appending(path: "Things.sqlite")
        try FileManager.default.copyItem(at: stores.things.url, to: store)
        let other = try ChildProcess.run("sqlite3", [store.path, "VACUUM INTO '\(folder.path)/copy.sqlite'"])
        let migration = try ChildProcess.run(Tool.path, ["migrate", store.path, "--model", stores.model.path])
        benchmark.record(ours: migration.duration, peers: other.duration)
        benchmark.measurement(memory, migration.peakMemory)
    } setup: {
        let things = try ObjectStore(things: Int(1_000_000 * SampleStore.scale))
        things.container.close()
        try ChildProcess.run("sqlite3", [things.url.path, "PRAGMA wal_checkpoint(TRUNCATE)"])
        return (things, try nextModel())
    }
}

/// A document of the next version: `note` is renamed, and `colour` is new.
private func nextModel() throws -> URL {
    let model = try SampleStore.emptyFolder().appending(path: "Things.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    let text = """
        <model type="com.apple.IDECoreDataModeler.DataModel"><entity name="Thing">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="remark" optional="YES" attributeType="String" elementID="note"/>
        <attribute name="colour" optional="YES" attributeType="String"/>
        <attribute name="isEven" optional="YES" attributeType="Boolean"/>
        <attribute name="at" optional="YES" attributeType="Date"/>
        <attribute name="weight" optional="YES" attributeType="Double"/>
        <relationship name="box" optional="YES" maxCount="1" destinationEntity="Box" inverseName="things" \
        inverseEntity="Thing"/></entity>
        <entity name="Box"><attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="things" optional="YES" toMany="YES" destinationEntity="Thing" inverseName="box" \
        inverseEntity="Box"/></entity></model>
        """
    try Data(text.utf8).write(to: model.appending(path: "contents"))
    return model
}
