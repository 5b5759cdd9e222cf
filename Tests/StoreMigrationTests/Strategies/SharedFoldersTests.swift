import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Folders of external files with a strategy's mode and group")
struct SharedFoldersTests {
    private func mode(of folder: Directory?) throws -> UInt32? { try folder?.status().mode }

    @Test("New folders of external files get the matching mode with setgid, which is read back")
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

    @Test("Existing folders of external files keep their modes, and the share succeeds")
    func there() throws {
        let world = try DescribedWorld(recipe: "external-data")
        let container = world.places.container.directory
        let support = try container.createDirectory(world.places.newStore.supportFolderName, mode: 0o700)
        _ = try support.createDirectory(StoreLocation.externalDataFolderName, mode: 0o700)
        #expect(try world.share(["SharedAccess:mode=0640"]).outcome == .shared)
        #expect(try mode(of: container.externalData(of: world.places.newStore)) == 0o700)
    }
}
