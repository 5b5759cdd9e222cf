import Glibc
import SafeFiles
import StoreAccess
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Folders in which other users can replace the old store")
struct ExposedFolderTests {
    /// The group of a folder: a different one if the tests run as root, otherwise the user's own.
    private static let group: UInt32 = geteuid() == 0 ? 4_321 : UInt32(getegid())

    /// A store two folders below a scratch folder; the modes are those of the upper and the lower one.
    private func folders(_ modes: (upper: UInt32, nearer: UInt32)) throws -> (
        scratch: ScratchFolder, store: StoreLocation
    ) {
        let scratch = try ScratchFolder()
        let upper = try scratch.directory.createDirectory("upper", mode: 0o700)
        let nearer = try upper.createDirectory("nearer", mode: 0o700)
        let file = try nearer.createFile("store.sqlite", mode: 0o644)
        try file.close()
        if geteuid() == 0 { for folder in [upper, nearer] { try folder.setOwner(user: nil, group: Self.group) } }
        try FilePath(upper.path).setMode(modes.upper)
        try FilePath(nearer.path).setMode(modes.nearer)
        return (scratch, StoreLocation(folder: nearer.path, name: "store.sqlite"))
    }

    @Test(
        "A folder is exposed by its mode",
        arguments: [
            (0o755, 0o755, nil, nil), (0o755, 0o777, ExposedFolder.Party.everybody, "upper/nearer"),
            (0o777, 0o755, .everybody, "upper"), (0o1777, 0o755, nil, nil), (0o1777, 0o1777, nil, nil),
            (0o755, 0o775, .containerGroup, "upper/nearer"), (0o2770, 0o700, .containerGroup, "upper"),
            (0o3770, 0o700, nil, nil), (0o777, 0o775, .containerGroup, "upper/nearer"),
        ] as [(UInt32, UInt32, ExposedFolder.Party?, String?)]
    )
    func modes(_ upper: UInt32, _ nearer: UInt32, _ party: ExposedFolder.Party?, _ path: String?) throws {
        let (scratch, store) = try folders((upper, nearer))
        let found = try ExposedFolder.onTheWay(to: store, group: Self.group)
        #expect(found?.party == party)
        #expect(found?.path == path.map { scratch.path + "/" + $0 })
    }

    @Test("A group is ignored if it is not the container's, or may write the store itself")
    func groups() throws {
        let (scratch, store) = try folders((0o770, 0o770))
        defer { withExtendedLifetime(scratch) {} }
        #expect(try ExposedFolder.onTheWay(to: store, group: Self.group &+ 1) == nil)
        #expect(try ExposedFolder.onTheWay(to: store, group: nil) == nil)
        if geteuid() == 0 { #expect(chown(store.path, 0, Self.group) == 0) }
        #expect(try ExposedFolder.onTheWay(to: store, group: Self.group)?.party == .containerGroup)
        try FilePath(store.path).setMode(0o664)
        #expect(try ExposedFolder.onTheWay(to: store, group: Self.group) == nil)
    }

    @Test("A folder that belongs to another user is exposed", .enabled(if: geteuid() == 0))
    func owner() throws {
        let (scratch, store) = try folders((0o755, 0o755))
        #expect(chown(scratch.path + "/upper", 4_321, 4_321) == 0)
        let found = try ExposedFolder.onTheWay(to: store, group: nil)
        #expect(found == ExposedFolder(path: scratch.path + "/upper", party: .anotherUser))
        // Root's folders count like the user's own.
        #expect(chown(store.path, 4_321, 4_321) == 0)
        #expect(chown(scratch.path, 0, 0) == 0)
        #expect(chown(scratch.path + "/upper", 0, 0) == 0)
        #expect(try ExposedFolder.onTheWay(to: store, group: nil) == nil)
    }

    @Test("A parent folder of a user whom the namespace hides counts as root's", .enabled(if: geteuid() == 0))
    func hiddenOwner() throws {
        let (scratch, store) = try folders((0o755, 0o755))
        let container = UserNamespace(map: "         0       1000          1\n", overflowUser: "65534\n")
        #expect(chown(scratch.path + "/upper", 65_534, 65_534) == 0)
        #expect(try ExposedFolder.onTheWay(to: store, group: nil, in: container) == nil)
        #expect(try ExposedFolder.onTheWay(to: store, group: nil)?.party == .anotherUser)
        // Its mode counts, as for root's folders.
        try FilePath(scratch.path + "/upper").setMode(0o777)
        #expect(try ExposedFolder.onTheWay(to: store, group: nil, in: container)?.party == .everybody)
        // The store's own folder is one that this user chose.
        #expect(chown(scratch.path + "/upper/nearer", 65_534, 65_534) == 0)
        let nearest = try ExposedFolder.onTheWay(to: store, group: nil, in: container)
        #expect(nearest == ExposedFolder(path: scratch.path + "/upper/nearer", party: .anotherUser))
    }

    @Test("A share that copies warns of an exposed folder; one without a copy does not")
    func share() throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        try FilePath(places.old.path).setMode(0o777)
        let planned = try places.migrator().planAndWait().findings.filter { $0.code == .oldPlaceExposed }
        #expect(planned.map(\.path) == [places.old.path] && planned.map(\.severity) == [.warning])
        let outcome = try places.share()
        #expect(outcome.outcome == .shared && outcome.findings.contains { $0.code == .oldPlaceExposed })
        #expect(try !places.share().findings.contains { $0.code == .oldPlaceExposed })
    }
}
