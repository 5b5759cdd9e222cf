import FoundationEssentials
import SafeFiles

/// A folder for one test, removed with everything in it.
final class Scratch {
    private let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory(prefix: "store-migrate-tests") }

    var path: String { temporary.directory.path }

    /// The path of a name in the folder.
    func path(_ name: String) -> String { path + "/" + name }

    /// Creates a folder in the folder.
    @discardableResult
    func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return path(name)
    }

    /// Writes a file in the folder.
    @discardableResult
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// Copies a whole folder into the folder.
    @discardableResult
    func copy(_ source: String, as name: String) throws -> String {
        try FileManager.default.copyItem(atPath: source, toPath: path(name))
        return path(name)
    }

    /// Copies a whole folder into the folder, made writable.
    func copyWritable(_ source: String, as name: String) throws {
        let folder = try copy(source, as: name)
        for item in [""] + (try FileManager.default.subpathsOfDirectory(atPath: folder)) {
            let path = folder + "/" + item
            var isFolder = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            try FileManager.default.setAttributes([.posixPermissions: isFolder ? 0o755 : 0o644], ofItemAtPath: path)
        }
    }

    /// Creates a store with the `sqlite3` program.
    @discardableResult
    func store(_ name: String, _ sql: String = Scratch.habits) async throws -> String {
        try await SQLiteProgram.run(path(name), sql)
        return path(name)
    }

    /// Three rows in two tables.
    static let habits = """
        CREATE TABLE habit(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE mark(id INTEGER PRIMARY KEY, habit INTEGER, day REAL);
        INSERT INTO habit(name) VALUES('read'), ('run');
        INSERT INTO mark(habit, day) VALUES(1, 6.5);
        """

    /// The state of a file that a read-only verb must not change.
    struct Entry: Equatable {
        let bytes: [UInt8]
        let modified: Date?
    }

    /// Every file below a folder with its bytes and its time; the time of a folder shows temporary entries, too.
    func fingerprint(_ folder: String? = nil, withFolderTimes: Bool = true) throws -> [String: Entry] {
        let root = folder ?? path
        var result: [String: Entry] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
            let item = root + "/" + name
            let attributes = try FileManager.default.attributesOfItem(atPath: item)
            let isFile = attributes[.type] as? FileAttributeType == .typeRegular
            let bytes = isFile ? FileManager.default.contents(atPath: item) : nil
            let time = isFile || withFolderTimes ? attributes[.modificationDate] as? Date : nil
            result[name] = Entry(bytes: Array(bytes ?? Data()), modified: time)
        }
        return result
    }

    /// The names in a folder of the folder.
    func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }
}
