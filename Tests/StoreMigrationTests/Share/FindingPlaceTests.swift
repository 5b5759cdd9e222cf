import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Paths in findings about staged files")
struct FindingPlaceTests {
    @Test(
        "A finding about a staged file names the final path, for names of any characters",
        arguments: ["Größe", "Gro\u{308}ße", "plain", "習慣 🏃"]
    )
    func moved(folder: String) {
        let staged = StoreLocation(folder: "/tmp/\(folder)/.store-migrate-1", name: "store.sqlite")
        let place = StoreLocation(folder: "/group/\(folder)", name: "store.sqlite")
        let finding = Finding(.notFenced, .info, level: .files, "it is somewhere", path: staged.path + "-wal")
        #expect(finding.moved(from: staged, nil, to: place).path == place.path + "-wal")
        let other = Finding(.notFenced, .info, level: .files, "it is somewhere", path: "/elsewhere/store")
        #expect(other.moved(from: staged, nil, to: place).path == "/elsewhere/store")
    }
}
