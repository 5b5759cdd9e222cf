import SafeFiles
import StoreFormat
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Folders of external files under a strategy's rights")
struct SharedFoldersTests {
    private func mode(of folder: Directory?) throws -> UInt32? { try folder?.status().mode }

    @Test("New ones get the mode that goes with the files', setgid with it, and it is read back")
    func new() throws {
        let world = try DescribedWorld(recipe: "external-data")
        #expect(try world.share(["SharedAccess:mode=0640"]).outcome == .shared)
        let container = world.places.container.directory
        let support = try container.openDirectory(world.places.newStore.supportFolderName)
        #expect(try mode(of: support) == 0o2750)
        let files = try #require(try container.externalData(of: world.places.newStore))
        #expect(try mode(of: files) == 0o2750)
        let names = try files.entries()
        #expect(!names.isEmpty)
        for name in names { #expect(try files.status(of: name)?.mode == 0o640) }
    }

    @Test("Those that are there stay as their owner made them, and the share goes on")
    func there() throws {
        let world = try DescribedWorld(recipe: "external-data")
        let container = world.places.container.directory
        let support = try container.createDirectory(world.places.newStore.supportFolderName, mode: 0o700)
        _ = try support.createDirectory(StoreLocation.externalDataFolderName, mode: 0o700)
        #expect(try world.share(["SharedAccess:mode=0640"]).outcome == .shared)
        #expect(try mode(of: container.externalData(of: world.places.newStore)) == 0o700)
    }
}
