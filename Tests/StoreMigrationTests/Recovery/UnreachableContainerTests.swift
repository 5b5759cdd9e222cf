import Foundation
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("A container that cannot be opened")
struct UnreachableContainerTests {
    @Test("An unreadable container is not treated as moved: its published store and the fence stay")
    func unreachable() throws {
        let fenced = try #require(Interruption.publishing.first { $0.isFenced })
        let places = try InterruptedWorld(fenced, mode: "wal").places
        let elsewhere = try ScratchFolder()
        let records = try places.records()
        // A symbolic link to itself replaces the folder for a while.
        let (container, kept) = (places.container.path, places.container.path + "-kept")
        try FileManager.default.moveItem(atPath: container, toPath: kept)
        try FileManager.default.createSymbolicLink(atPath: container, withDestinationPath: container)
        let migrator = StoreMigrator(from: places.oldStore.url, to: elsewhere.location(places.name).url)

        #expect(throws: (any Error).self) { try migrator.shareStoreIfNecessaryAndWait(isCancelled: nil) }

        try FileManager.default.removeItem(atPath: container)
        try FileManager.default.moveItem(atPath: kept, toPath: container)
        #expect(try places.records() == records)
        #expect(try elsewhere.directory.entries().isEmpty)
        let app = try StoreWriterProcess(places.oldStore.path)
        #expect(try app.execute("INSERT INTO t VALUES (1)") != "ok")
        #expect(app.waitForExit() == 0)
        #expect(try Recovery(of: places.oldStore.url).resumeAndWait().outcome == .shared)
    }
}
