import FaultSupport
import Testing

@Suite("The states after a power cut")
struct CrashSpaceTests {
    /// Some operations, and every possible disk after a power cut at their end.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var before: [String: String] = [:]
        let operations: [RecordedOperation]
        var ignoring: Set<Int> = []
        let disks: Set<String>
    }

    private static let root: UInt64 = 1
    private static let folders: [String: UInt64] = ["x": 2, "y": 3]
    /// The inode number of the first existing file; the others follow in the order of their names.
    private static let firstFile: UInt64 = 10

    private static func name(_ name: String, in folder: UInt64 = root) -> RecordedOperation.Name { .init(folder, name) }
    private static func create(_ file: UInt64, _ name: String, in folder: UInt64 = root) -> RecordedOperation {
        RecordedOperation(file, .create(.init(folder, name), mode: 0o100600))
    }
    private static func write(_ file: UInt64, _ text: String, at offset: Int = 0) -> RecordedOperation {
        RecordedOperation(file, .write(offset: offset, bytes: Array(text.utf8)))
    }
    private static func synchronize(_ file: UInt64, dataOnly: Bool = false) -> RecordedOperation {
        RecordedOperation(file, .synchronize(dataOnly: dataOnly))
    }
    private static func rename(_ file: UInt64, _ from: String, _ to: String) -> RecordedOperation {
        RecordedOperation(file, .rename(from: name(from), to: name(to)))
    }
    private static let safeReplacement = [
        create(20, "a.new"), write(20, "new"), synchronize(20), rename(20, "a.new", "a"),
    ]
    private static let blocks = (old: String(repeating: "o", count: 8192), new: String(repeating: "n", count: 8192))

    static let rows = [
        Row(
            testDescription: "a new file without an fsync",
            operations: [create(20, "a"), write(20, "hi")],
            disks: ["", "a=", "a=00", "a=hi"]
        ),
        Row(
            testDescription: "a new file with an fsync, its folder without",
            operations: [create(20, "a"), write(20, "hi"), synchronize(20)],
            disks: ["", "a=hi"]
        ),
        Row(
            testDescription: "a new file without an fsync, its folder with one",
            operations: [create(20, "a"), write(20, "hi"), synchronize(root)],
            disks: ["a=", "a=00", "a=hi"]
        ),
        Row(
            testDescription: "a new file with an fsync of file and folder",
            operations: [create(20, "a"), write(20, "hi"), synchronize(20), synchronize(root)],
            disks: ["a=hi"]
        ),
        Row(
            testDescription: "a new file after syncfs",
            operations: [create(20, "a"), write(20, "hi"), RecordedOperation(20, .synchronizeAll)],
            disks: ["a=hi"]
        ),
        Row(
            testDescription: "a rename within a folder",
            before: ["a": "1"],
            operations: [rename(10, "a", "b")],
            disks: ["a=1", "b=1", "a=1 b=1"]
        ),
        Row(
            testDescription: "a rename from folder to folder",
            before: ["x/a": "1", "y/": ""],
            operations: [RecordedOperation(10, .rename(from: name("a", in: 2), to: name("b", in: 3)))],
            disks: ["x/ x/a=1 y/", "x/ y/ y/b=1", "x/ x/a=1 y/ y/b=1", "x/ y/"]
        ),
        Row(
            testDescription: "a rename from folder to folder, with an fsync of the first",
            before: ["x/a": "1", "y/": ""],
            operations: [
                RecordedOperation(10, .rename(from: name("a", in: 2), to: name("b", in: 3))), synchronize(2),
            ],
            disks: ["x/ y/ y/b=1", "x/ y/"]
        ),
        Row(
            testDescription: "a rename of a folder",
            before: ["x/a": "1"],
            operations: [RecordedOperation(2, .rename(from: name("x"), to: name("z")))],
            disks: ["x/ x/a=1", "z/ z/a=1"]
        ),
        Row(
            testDescription: "a file that is replaced after an fsync of the new one",
            before: ["a": "old"],
            operations: safeReplacement,
            disks: ["a=old", "a=new", "a=old a.new=new", "a=new a.new=new"]
        ),
        Row(
            testDescription: "the same, with an fsync of the folder",
            before: ["a": "old"],
            operations: safeReplacement + [synchronize(root)],
            disks: ["a=new"]
        ),
        Row(
            testDescription: "the same, if the fsync of the new file is ignored",
            before: ["a": "old"],
            operations: safeReplacement + [synchronize(root)],
            ignoring: [2],
            disks: ["a=", "a=000", "a=new"]
        ),
        Row(
            testDescription: "two blocks of one write",
            before: ["a": blocks.old],
            operations: [write(10, blocks.new)],
            disks: ["a=o8192", "a=n8192", "a=n4096o4096", "a=o4096n4096"]
        ),
        Row(
            testDescription: "a write beyond the end, with an fdatasync of bytes and size",
            before: ["a": "1"],
            operations: [write(10, "2", at: 1), synchronize(10, dataOnly: true)],
            disks: ["a=12"]
        ),
        Row(
            testDescription: "a file that is emptied and written again",
            before: ["a": "12"],
            operations: [RecordedOperation(10, .resize(0)), write(10, "3")],
            disks: ["a=12", "a=", "a=1", "a=3", "a=0", "a=32"]
        ),
        Row(
            testDescription: "a name that is removed",
            before: ["a": "1"],
            operations: [RecordedOperation(10, .remove(name("a")))],
            disks: ["a=1", ""]
        ),
        Row(
            testDescription: "a name that is removed and given to another file",
            before: ["a": "1"],
            operations: [RecordedOperation(10, .remove(name("a"))), create(20, "a")],
            disks: ["a=1", "", "a="]
        ),
        Row(
            testDescription: "a second name",
            before: ["a": "1"],
            operations: [RecordedOperation(10, .link(name("b"))), synchronize(10)],
            disks: ["a=1", "a=1 b=1"]
        ),
        Row(
            testDescription: "a folder with a durable name in it, but without its own",
            operations: [
                RecordedOperation(30, .create(name("f"), mode: 0o040700)), create(20, "a", in: 30), synchronize(30),
            ],
            disks: ["", "f/ f/a="]
        ),
    ]

    @Test("The space contains exactly the states of the weakest file system", arguments: rows)
    func states(_ row: Row) throws {
        let space = try CrashSpace(before: disk(row.before), operations: row.operations, ignoring: row.ignoring)
        let pending = space.pending(at: row.operations.count)
        try #require(pending.count < 12)
        let disks = (0..<1 << pending.count)
            .map { mask in
                let lost = pending.indices.filter { mask >> $0 & 1 == 1 }.map { pending[$0] }
                return text(space.disk(in: CrashState(prefix: row.operations.count, lost: lost)))
            }
        #expect(Set(disks) == row.disks)
    }

    @Test("fsync makes mode and owner durable, fdatasync does not", arguments: [false, true])
    func modes(dataOnly: Bool) throws {
        let operations = [
            RecordedOperation(10, .setMode(0o640)), RecordedOperation(10, .setOwner(user: 5, group: 6)),
            Self.synchronize(10, dataOnly: dataOnly),
        ]
        let space = try CrashSpace(before: disk(["a": "1"]), operations: operations)
        let pending = space.pending(at: 3)
        #expect(pending.count == (dataOnly ? 2 : 0))
        let nothing = space.disk(in: CrashState(prefix: 3, lost: pending)).nodes[10]
        #expect(nothing?.mode == (dataOnly ? 0o100600 : 0o100640))
        #expect(nothing?.owner.user == (dataOnly ? 0 : 5))
    }

    @Test("A run has the states of all its points, each once, and a seed determines a sample")
    func sampling() throws {
        let space = try CrashSpace(before: disk(["a": "old"]), operations: Self.safeReplacement)
        let all = space.states(limit: .max, seed: 1).map { text(space.disk(in: $0)) }
        let expected: Set = [
            "a=old", "a=old a.new=", "a=old a.new=000", "a=old a.new=new", "a=new", "a=new a.new=new",
        ]
        #expect(Set(all) == expected)
        #expect(all.count == expected.count)
        #expect(space.states(limit: 3, seed: 5) == space.states(limit: 3, seed: 5))
        #expect(space.states(limit: 3, seed: 5).count == 3)
    }

    @Test("A state prints in a form that parses to the same state")
    func description() throws {
        let state = CrashState(prefix: 17, lost: [9, 3, 4, 5, 12])
        #expect(state.description == "17:3-5,9,12")
        #expect(CrashState("17:3-5,9,12") == state)
        #expect(CrashState("17:") == CrashState(prefix: 17, lost: []))
        for text in ["", "x:1", "3", "3:b", "-1:", "4:5-3"] { #expect(CrashState(text) == nil) }
    }

    private func disk(_ files: [String: String]) -> SimulatedDisk {
        let folder = SimulatedDisk.Node(mode: 0o040700)
        var disk = SimulatedDisk(root: Self.root, nodes: [Self.root: folder])
        for (number, path) in files.keys.sorted().enumerated() {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            var parent = Self.root
            if parts.count > 1, let inner = Self.folders[parts[0]] {
                disk.nodes[inner] = disk.nodes[inner] ?? folder
                disk.nodes[Self.root]?.entries[parts[0]] = inner
                parent = inner
            }
            guard let name = parts.last, !name.isEmpty else { continue }
            var file = SimulatedDisk.Node(mode: 0o100600)
            file.bytes = Array((files[path] ?? "").utf8)
            file.size = file.bytes.count
            disk.nodes[Self.firstFile + UInt64(number)] = file
            disk.nodes[parent]?.entries[name] = Self.firstFile + UInt64(number)
        }
        return disk
    }

    /// The paths with their content, a zero as "0" and long runs of one letter as a count.
    private func text(_ disk: SimulatedDisk) -> String {
        disk.paths
            .map { path, _, node in
                guard !node.isFolder else { return path + "/" }
                let text = node.content.map { $0 == 0 ? "0" : String(UnicodeScalar($0)) }.joined()
                guard text.count > 100 else { return path + "=" + text }
                return path + "="
                    + ["o", "n"].sorted { text.hasPrefix($0) && !text.hasPrefix($1) }
                    .map { letter in
                        let count = text.filter { String($0) == letter }.count
                        return count == 0 ? "" : "\(letter)\(count)"
                    }
                    .joined()
            }
            .joined(separator: " ")
    }
}
