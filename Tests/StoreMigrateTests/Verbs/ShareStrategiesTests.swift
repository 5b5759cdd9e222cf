import FoundationEssentials
import StoreAccess
import TestSupport
import Testing

@Suite(
    "Strategies applied to genuine stores",
    .verify,
    .genuineStores
)
struct ShareStrategiesTests {
    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    @Test("RollbackJournal changes the header of the shared store, and no row", arguments: Corpus.stores)
    func rollbackJournal(_ genuine: String) async throws {
        let store = Corpus.location(of: genuine)
        let scratch = try Scratch()
        for copy in ["old", "pristine"] { try scratch.copyOf(store, as: copy) }
        let new = try scratch.folder("new") + "/" + store.name
        let run = try await Tool.run(["share", scratch.path("old/" + store.name), new, "--strategy", "RollbackJournal"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try header(new) == [1, 1])
        let pristine = try await SQLiteProgram.content(scratch.path("pristine/" + store.name))
        #expect(try await SQLiteProgram.content(new) == pristine)
    }

    @Test(
        "Strategies set journal mode, history, mode and group, change nothing else, and are idempotent",
        arguments: Corpus.stores
    )
    func everything(_ genuine: String) async throws {
        let store = Corpus.location(of: genuine)
        let scratch = try Scratch()
        for copy in ["old", "pristine"] { try scratch.copyOf(store, as: copy) }
        let (old, new) = (scratch.path("old/" + store.name), try scratch.folder("new") + "/" + store.name)
        let (group, names) = (try await scratch.groupOfFiles(), scratch.path("descriptions.json"))
        let others = ["--strategy", "WriteAheadLog", "--strategy", "SharedAccess:mode=0640,group=\(group)"]
        var call = ["share", old, new, "--descriptions", names] + others
        let history = try await Tool.run(call + ["--strategy", "HistoryTracking"])
        let isTracked = history.status == 0
        if isTracked {
            call += ["--strategy", "HistoryTracking"]
        } else {
            // Only a store without a copy of its model is refused, and stays unchanged.
            #expect(history.status == 2)
            #expect(history.errors.contains("HistoryTracking does not apply: the store keeps no copy of its model"))
            #expect(try scratch.names(scratch.path("new")).isEmpty)
            #expect(try await Tool.run(call).status == 0)
        }
        #expect(try header(new) == [2, 2])
        try await expectRights("640", group, below: scratch.path("new"))
        try await expectContent(new, scratch.path("pristine/" + store.name), isTracked)
        let written = try JSONTree(String(contentsOf: URL(filePath: names), encoding: .utf8))
        #expect(written["app"]?["isHistoryTrackingEnabled"] == .bool(isTracked))
        try await expectVerified(new, like: old)

        let again = try await Tool.run(call + ["--json"])
        #expect(again.status == 0, "\(again.errors)")
        let summary = try Grammar().check(again).last
        #expect(summary?["outcome"]?.string == "alreadyShared")
        #expect(summary?["findings"]?.integer == 0, "\(again.output)")
    }

    /// The two bytes of the header that record the journal mode.
    private func header(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)).prefix(20).suffix(2))
    }

    /// Expects the mode and group of every file of the store, and of the folders of its external files.
    private func expectRights(_ mode: String, _ group: String, below folder: String) async throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder)
        where !name.hasSuffix(".store-migrate.json") {
            let stat = try await Tool.run(command: ["stat", "-c", "%F %a %g", folder + "/" + name])
            let expected =
                stat.output.hasPrefix("directory") ? "directory 2750 \(group)" : "regular file \(mode) \(group)"
            #expect(stat.output == expected + "\n", "\(name)")
        }
    }

    /// Compares both stores as `sqlite3` reads them, except for the tables and numbers of a new history.
    private func expectContent(_ new: String, _ pristine: String, _ isTracked: Bool) async throws {
        var (found, expected) = (try await SQLiteProgram.content(new), try await SQLiteProgram.content(pristine))
        guard isTracked else { return #expect(found == expected) }
        let numbers = "SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN 16001 AND 16003 ORDER BY 1"
        #expect(try await SQLiteProgram.run(new, numbers) == "CHANGE\nTRANSACTION\nTRANSACTIONSTRING\n")
        if try await SQLiteProgram.run(pristine, numbers).isEmpty {
            for table in Self.historyTables {
                #expect(found.removeValue(forKey: table) == "", "\(table)")
                expected[table] = nil
            }
            let keys = "SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT NOT BETWEEN 16001 AND 16003 ORDER BY Z_ENT"
            #expect(try await SQLiteProgram.run(new, keys) == SQLiteProgram.run(pristine, keys))
            for table in ["Z_PRIMARYKEY"] { (found[table], expected[table]) = (nil, nil) }
        }
        #expect(found == expected)
    }

    /// Expects no finding up to the level `coredata` that the original store does not have.
    private func expectVerified(_ new: String, like old: String) async throws {
        func findings(_ path: String) async throws -> [String] {
            let run = try await Tool.run(["verify", path, "--level", "coredata", "--json"])
            return try Grammar().check(run).filter { $0["type"]?.string == "finding" }
                .compactMap { $0["code"]?.string }
        }
        #expect(Set(try await findings(new)).subtracting(try await findings(old)).isEmpty)
    }
}

extension Scratch {
    /// Copies a store's folder, made writable.
    fileprivate func copyOf(_ store: StoreLocation, as name: String) throws {
        let folder = try copy(store.folder, as: name)
        for item in [""] + (try FileManager.default.subpathsOfDirectory(atPath: folder)) {
            let path = folder + "/" + item
            var isFolder = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            try FileManager.default.setAttributes([.posixPermissions: isFolder ? 0o755 : 0o644], ofItemAtPath: path)
        }
    }

    /// A group that the user can give files to: `nogroup` for root, otherwise the user's own.
    fileprivate func groupOfFiles() async throws -> String {
        let run = try await Tool.run(command: ["id", "-u"])
        guard run.output != "0\n" else { return "65534" }
        return try await Tool.run(command: ["id", "-g"]).output.trimmingNewline
    }
}

extension String {
    fileprivate var trimmingNewline: String { last == "\n" ? String(dropLast()) : self }
}
