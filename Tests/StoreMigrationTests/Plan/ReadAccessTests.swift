import Glibc
import SafeFiles
import StoreAccess
import SystemPackage
import TestSupport
import Testing

@testable import StoreMigration

@Suite("Users who gain read access by a share")
struct ReadAccessTests {
    private static func folder(_ mode: UInt32, _ group: UInt32) -> FileStatus {
        let time = FileStatus.Time(seconds: 0, nanoseconds: 0)
        return FileStatus(
            identity: FileIdentity(device: 1, inode: 1),
            kind: .directory,
            size: 0,
            mode: mode,
            owner: 0,
            group: group,
            linkCount: 2,
            modified: time,
            changed: time
        )
    }

    @Test(
        "Read access follows from the file's mode and the search bits of every folder",
        arguments: [
            (0o644, 5, [(0o755, 0)], true, [0, 5]), (0o644, 5, [(0o700, 0), (0o755, 0)], false, []),
            (0o644, 5, [(0o750, 7), (0o755, 0)], false, [7]), (0o640, 5, [(0o755, 0)], false, [5]),
            (0o640, 5, [(0o750, 7), (0o755, 0)], false, []), (0o640, 5, [(0o2770, 5), (0o755, 0)], false, [5]),
            (0o600, 5, [(0o777, 5)], false, []), (0o604, 5, [(0o755, 0)], true, [0]),
            (0o644, 5, [(0o1777, 0), (0o711, 0)], true, [0, 5]), (0o666, 5, [(0o766, 0), (0o755, 0)], false, []),
        ] as [(UInt32, UInt32, [(UInt32, UInt32)], Bool, Set<UInt32>)]
    )
    func modes(
        _ mode: UInt32,
        _ group: UInt32,
        _ folders: [(UInt32, UInt32)],
        _ everybody: Bool,
        _ groups: Set<UInt32>
    ) {
        let access = ReadAccess(mode: mode, group: group, through: folders.map(Self.folder))
        #expect(access.everybody == everybody)
        #expect(access.groups == groups)
    }

    @Test(
        "A share into an open folder warns, unless the old store was as open or the new one is closed",
        arguments: [
            (0o700, 0o1777, 0o644, true), (0o755, 0o1777, 0o644, false), (0o700, 0o700, 0o644, false),
            (0o700, 0o1777, 0o640, false),
        ]
            as [(UInt32, UInt32, UInt32, Bool)]
    )
    func share(_ old: UInt32, _ new: UInt32, _ mode: UInt32, _ warns: Bool) throws {
        let places = try Places()
        try places.old.makeStore("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        // Scratch folders are in a folder that every user may search.
        let parent = try Directory.open(path: places.old.path + "/..")
        try #require(parent.ancestry().allSatisfy { ($0.status?.mode ?? 0) & 0o001 != 0 })
        try FilePath(places.oldStore.path).setMode(mode)
        try FilePath(places.old.path).setMode(old)
        try FilePath(places.container.path).setMode(new)

        let planned = try places.migrator().planAndWait().findings.filter { $0.code == .readableByMore }
        let outcome = try places.share()

        #expect(planned.map(\.severity) == (warns ? [.warning] : []))
        #expect(planned.map(\.path) == (warns ? [places.newStore.path] : []))
        #expect(outcome.outcome == .shared)
        #expect(outcome.findings.contains { $0.code == .readableByMore } == warns)
    }

    @Test("The container's group may read without a warning; another group that gains access is reported")
    func groups() {
        let before = ReadAccess(mode: 0o640, group: 5, through: [Self.folder(0o700, 0)])
        let after = ReadAccess(mode: 0o644, group: 6, through: [Self.folder(0o755, 6), Self.folder(0o750, 7)])
        #expect(after.findings(comparedTo: before, meant: [6, 7], path: "/x").isEmpty)
        let findings = after.findings(comparedTo: before, meant: [6], path: "/x")
        #expect(findings.map(\.code) == [.readableByMore])
        #expect(findings.first?.message.contains("group 7") == true)
    }
}
