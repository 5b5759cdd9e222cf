import Foundation
import Glibc
import SafeFiles
import TestSupport

/// The folders of one walk, and the model of their expected content.
package final class WalkWorld {
    /// The initial folders and stores of a walk.
    package struct Setting: Codable, Sendable, Equatable {
        package var shape: StoreShape
        package var journalMode: String
        /// True where two stores share a folder, and one has the name of the other's log.
        package var hasOddNames: Bool

        package init(shape: StoreShape, journalMode: String, hasOddNames: Bool = false) {
            self.shape = shape
            self.journalMode = journalMode
            self.hasOddNames = hasOddNames
        }

        package var paths: [String] {
            hasOddNames ? ["a/s.db-wal", "a/s.db", "c/s.db"] : ["a/s.db", "b/s.db", "c/s.db"]
        }
    }

    /// A broken rule, and the step that broke it.
    package struct Violation: Sendable, Equatable {
        package let step: Int
        /// `L1` to `L7`, or a word for another failure.
        package let rule: String
        package let text: String

        /// Equal for violations that differ only in rows and stores.
        package var kind: String {
            rule + " " + text.replacing(/[vl]?[0-9]+|[abc]\/s\.db(-wal)?|[0-9a-f]{32}/, with: "…")
        }
    }

    /// A step as it was executed, for a scenario.
    package enum Record: Sendable {
        case made(place: Int)
        case wrote(place: Int, sql: String)
        case copied(from: Int, to: Int)
        case removedSnapshot
        case ran(words: [String], status: Int32)
        /// A step that a scenario cannot express.
        case other
    }

    /// The ending and the output of a command.
    struct Answer {
        let ending: Command.Ending
        let text: String
        /// The objects of `--json`, by their order.
        let objects: [[String: Any]]

        init(ending: Command.Ending, text: String) {
            self.ending = ending
            self.text = text
            objects = text.split(separator: "\n").filter { $0.hasPrefix("{") }
                .compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        }

        func object(_ type: String) -> [String: Any]? { objects.last { $0["type"] as? String == type } }

        /// What the command said of its failure; nil when it did not fail.
        var complaint: String? {
            let line = text.split(separator: "\n").last { $0.hasPrefix("store-migrate: ") }
            return line.map { String($0.dropFirst("store-migrate: ".count)) }
        }
    }

    /// An archive that a command made.
    struct Archive {
        let path: String
        let tokens: Set<String>
    }

    package let setting: Setting
    var shape: StoreShape { setting.shape }
    let scratch: Scratch
    let places: [String]
    var model = WalkModel()
    /// Every path below the scratch folder that a command's output named.
    var named: Set<String> = []
    var archives: [Archive] = []
    /// The files of parked rows that the last command left.
    var parkedFiles: Set<String> = []
    /// The versions that each store got from its last merges.
    var brought: [Int: Set<String>] = [:]
    /// Rows in stores that were copied by hand, which only a generated key identifies.
    ///
    /// A merge with the copy may give them another key, and they may come back as rows of their own. Rows that another store
    /// had already are in a base.
    var copiedRows: Set<String> = []
    /// The versions that both stores of a pair had after the last successful share.
    var pairs: [[Int]: Set<String>] = [:]
    /// The old stores of shares with `--old capture`, also of unfinished ones.
    var captured: Set<Int> = []
    /// The old stores of shares that named a policy by which one side of a conflict may lose, also of unfinished ones; later
    /// commands keep it.
    var overruling: Set<Int> = []
    /// Copies that a person made of shared stores, for use as bases.
    var bases: [(path: String, content: StoreContent)] = []
    /// The published snapshot.
    var published: Snapshot?
    /// Commands that were killed or interrupted, and that later commands on their stores may finish.
    var unfinished: [WalkStep.ToolCall] = []
    /// Places whose journals may have the unfinished run of such a command; only a command over the old store ends it.
    var interrupted: Set<Int> = []
    package internal(set) var records: [Record] = []
    /// The steps as shell commands.
    package internal(set) var shell: [String] = []
    /// The apps that keep a store open.
    var holders: [Int: StoreWriterProcess] = [:]
    /// How often each verb ended with each status.
    package internal(set) var endings: [String: Int] = [:]
    /// The number of commands that were killed.
    var killed: Int {
        endings.filter { $0.key.hasSuffix("\(Command.Ending.killed(signal: SIGKILL))") }.values.reduce(0, +)
    }
    private var readings: [String: (stamp: String, content: StoreContent?)] = [:]
    private var finds: [String: (stamp: String, tokens: Set<String>)] = [:]
    var contents: [StoreContent?] = [nil, nil, nil]
    /// Every version that the store at a place ever had.
    var held: [Set<String>] = [[], [], []]

    /// The program under test, where it is not the tool.
    let program: String?

    package init(_ setting: Setting, program: String? = nil) throws {
        self.setting = setting
        self.program = program
        scratch = try Scratch()
        let root = scratch.path
        places = setting.paths.map { root + "/" + $0 }
        let folders = Set(setting.paths.map { String($0.prefix(1)) }).union(["d", "backups"]).sorted()
        for folder in folders {
            try FileManager.default.createDirectory(atPath: root + "/" + folder, withIntermediateDirectories: true)
        }
        shell.append("mkdir -p " + folders.joined(separator: " "))
    }

    // MARK: Steps

    /// Executes one step, and returns the rules that it broke.
    package func carryOut(_ step: WalkStep, number: Int) throws -> [Violation] {
        switch step {
        case .app(let place, .create): return try create(at: place)
        case .app(let place, let work): return try app(work, at: place, number)
        case .hold(let place, let kind):
            try hold(place, kind)
            return []
        case .release(let place):
            try release(place)
            return []
        case .copy(let from, let to):
            guard contents[from] != nil, contents[to] == nil, !setting.hasOddNames else { return [] }
            for suffix in ["", "-wal", "-journal"] {
                // An app may have left an empty database there.
                if access(places[to] + suffix, F_OK) == 0 {
                    try FileManager.default.removeItem(atPath: places[to] + suffix)
                    shell.append("rm \(relative(places[to] + suffix))")
                }
                guard access(places[from] + suffix, F_OK) == 0 else { continue }
                try FileManager.default.copyItem(atPath: places[from] + suffix, toPath: places[to] + suffix)
                if !suffix.isEmpty { records.append(.other) }
                shell.append("cp \(relative(places[from] + suffix)) \(relative(places[to] + suffix))")
            }
            records.append(.copied(from: from, to: to))
            copiedRows.formUnion(rowsToCopy(from))
            try readPlaces()
            return []
        case .removeSnapshot:
            try removeSnapshot()
            return []
        case .tool(let call): return try tool(call, number)
        }
    }

    private func rowsToCopy(_ place: Int) -> Set<String> {
        guard let content = contents[place] else { return [] }
        let elsewhere = Set(contents.indices.filter { $0 != place }.flatMap { contents[$0]?.tokens ?? [] })
        return content.tokens.filter { token in
            let isKeyed = content.rows[token]?.contains(where: \.hasIntegerKey) == true
            return token.hasPrefix("l") || isKeyed && !elsewhere.contains(token)
        }
    }

    /// An app makes a store without rows at a path without a store.
    private func create(at place: Int) throws -> [Violation] {
        guard contents[place] == nil else { return [] }
        if let template = try StoreShape.template(setting, place: place) {
            try Data(template).write(to: URL(fileURLWithPath: places[place]))
            shell.append("$T fixture build habits\(place).yaml \(relative(places[place]))")
        }
        let schema = "PRAGMA journal_mode = \(setting.journalMode); " + shape.schema
        try PlainStore(places[place]).execute("PRAGMA synchronous = OFF; " + schema)
        if !shape.schema.isEmpty { shell.append(sqlite(place, schema)) }
        records.append(.made(place: place))
        try readPlaces()
        return []
    }

    private func sqlite(_ place: Int, _ sql: String) -> String {
        "sqlite3 \(relative(places[place])) \"\(sql.replacing("\n", with: " "))\""
    }

    private func app(_ work: WalkStep.AppWork, at place: Int, _ number: Int) throws -> [Violation] {
        guard let statement = sql(of: work, at: place) else { return [] }
        let before = contents[place]
        shell.append(sqlite(place, statement.sql))
        records.append(.wrote(place: place, sql: statement.sql))
        var failure: String?
        do {
            let store = try PlainStore(places[place])
            // A child of a killed command releases its lock soon; an app that holds the store does not.
            try store.execute("PRAGMA busy_timeout = \(holders[place] == nil ? 100 : 5)")
            try store.execute("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON")
            do {
                try store.execute(statement.isTransaction ? "BEGIN; \(statement.sql); COMMIT" : statement.sql)
            } catch let error as PlainStore.Failure {
                failure = error.description
                shell.append("# " + error.description.replacing(scratch.path + "/", with: ""))
            }
        }
        try readPlaces()
        guard let after = contents[place] else {
            return before == nil ? [] : [Violation(step: number, rule: "app", text: "the store is gone")]
        }
        if let failure, let before, before.refusal == nil, before.digest != after.digest {
            return [Violation(step: number, rule: "app", text: "a refused write changed the store: \(failure)")]
        }
        model.record(at: place, from: before ?? after, to: after, update: statement.update)
        return []
    }

    private struct Statement {
        let sql: String
        var update: (old: String, new: String)?
        var isTransaction = true
    }

    private func sql(of work: WalkStep.AppWork, at place: Int) -> Statement? {
        func rows(_ table: Int) -> [String] {
            let name = shape.tables[table].name
            return contents[place]?.rows.filter { $0.value.contains { $0.table == name } }.keys.sorted() ?? []
        }
        guard contents[place] != nil else { return nil }
        switch work {
        case .create: return nil
        case .insert(let table, let token, let seed):
            var random = SeededGenerator(seed: seed)
            return Statement(sql: shape.insertion(into: table, token: Self.token(token), &random))
        case .update(let table, let pick, let token, let seed):
            let rows = rows(table)
            guard !rows.isEmpty else { return nil }
            var random = SeededGenerator(seed: seed)
            let old = rows[pick % rows.count]
            let new = Self.token(token)
            return Statement(sql: shape.update(of: table, token: old, to: new, &random), update: (old, new))
        case .delete(let table, let pick):
            let rows = rows(table)
            guard !rows.isEmpty else { return nil }
            return Statement(sql: shape.deletion(from: table, token: rows[pick % rows.count]))
        case .vacuum: return Statement(sql: "VACUUM", isTransaction: false)
        case .checkpoint: return Statement(sql: "PRAGMA wal_checkpoint(TRUNCATE)", isTransaction: false)
        case .sql(let text): return Statement(sql: text)
        }
    }

    static func token(_ number: Int) -> String { "v" + String(String(1_000_000 + number).dropFirst()) }

    func relative(_ text: String) -> String { text.replacing(scratch.path + "/", with: "") }

    // MARK: Reading

    /// Reads the stores whose files changed.
    func readPlaces() throws {
        let former = contents
        contents = try places.map { try content(of: $0) }
        for (place, content) in contents.enumerated() {
            if let content { model.see(content, at: place) }
            let tokens = content?.tokens ?? []
            // A store without any version of the former one is another store.
            if former[place]?.tokens.isDisjoint(with: tokens) != false { held[place] = [] }
            held[place].formUnion(tokens)
        }
    }

    func content(of path: String) throws -> StoreContent? {
        let stamp = Self.stamp(of: path)
        if let reading = readings[path], reading.stamp == stamp { return reading.content }
        let content = try StoreContent.read(path, probe: shape.probe, in: scratch.privatePath)
        readings[path] = (stamp, content)
        return content
    }

    /// The status of a store's files that changes with every write.
    private static func stamp(of path: String) -> String {
        ["", "-wal", "-journal"]
            .map { suffix in
                var status = stat()
                guard lstat(path + suffix, &status) == 0 else { return "-" }
                return "\(status.st_ino) \(status.st_size) \(status.st_mtim) \(status.st_ctim)"
            }
            .joined(separator: ";")
    }

    func name(pathsIn text: String) {
        let root = scratch.path + "/"
        for line in text.split(separator: "\n") {
            for part in line.components(separatedBy: root).dropFirst() {
                var path = String(part.prefix { !" \",;'()\\".contains($0) })
                while path.last == "." || path.last == ":" { path.removeLast() }
                if !path.isEmpty { named.insert(root + path) }
            }
        }
        // Naming a folder names its content.
        for path in named {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            where path.contains("/.store-migrate-") { named.insert(path + "/" + name) }
        }
    }

    func findArchives() throws {
        var isNew: [String] = named.filter { Self.isArchive($0) }
        isNew += ((try? FileManager.default.contentsOfDirectory(atPath: scratch.path + "/backups")) ?? [])
            .map { scratch.path + "/backups/" + $0 }.filter { Self.isArchive($0) }
        let known = Set(archives.map(\.path))
        for path in Set(isNew).subtracting(known).sorted() where FileManager.default.fileExists(atPath: path) {
            archives.append(Archive(path: path, tokens: try tokens(inArchive: path)))
        }
    }

    static func isArchive(_ path: String) -> Bool { path.hasSuffix(".tar.zst") }

    /// Unpacks the archive with another program.
    private func tokens(inArchive path: String) throws -> Set<String> {
        let temporary = try TemporaryDirectory(prefix: "walk-archive", in: scratch.privatePath)
        let folder = temporary.directory.path
        let (status, output) = try ChildProgram.run(["bsdtar", "-xf", path, "-C", folder])
        guard status == 0 else { throw UnharmedRunFailure(name: "bsdtar", objections: [path], output: output) }
        var result: Set<String> = []
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
            if bytes.starts(with: Data("SQLite format 3".utf8)) {
                result.formUnion(try StoreContent.read(folder + "/" + name, probe: nil, in: folder)?.tokens ?? [])
            }
        }
        return result
    }

    /// The row of a token in a file that a command named: a store, or rows that a merge of plain stores parked.
    func storedRow(_ token: String, in path: String) throws -> StoreContent.Row? {
        guard try tokens(in: path).contains(token), !Self.isArchive(path) else { return nil }
        guard path.hasSuffix(".jsonl") else {
            return try StoreContent.read(path, probe: nil, in: scratch.privatePath)?.rows[token]?.first
        }
        guard !shape.isCoreData else { return nil }
        let lines = (FileManager.default.contents(atPath: path) ?? Data()).split(separator: UInt8(ascii: "\n"))
        let known = contents.compactMap { $0?.rows.values.joined() }.joined()
        return lines.lazy
            .compactMap { line in
                StoreContent.Row(parked: line) { table in known.first { $0.table == table }?.hasIntegerKey == true }
            }
            .first { $0.token == token }
    }

    /// The tokens in a file that a command named: a store, an archive, or a file of parked rows.
    func tokens(in path: String) throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        if let archive = archives.first(where: { $0.path == path }) { return archive.tokens }
        let stamp = Self.stamp(of: path)
        if let find = finds[path], find.stamp == stamp { return find.tokens }
        var result: Set<String> = []
        if path.hasSuffix(".jsonl") {
            let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
            result = Set(text.matches(of: /[vl][0-9]{6}/).map { String($0.output) })
        } else if try Self.isDatabase(path) {
            result = try StoreContent.read(path, probe: nil, in: scratch.privatePath)?.tokens ?? []
        }
        finds[path] = (stamp, result)
        return result
    }

    private static func isDatabase(_ path: String) throws -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return try FileHandle(forReadingAtPath: path)?.read(upToCount: 15) == Data("SQLite format 3".utf8)
    }
}
