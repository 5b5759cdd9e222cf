internal import FoundationEssentials
internal import Glibc
public import StoreStrategies

/// The program of a plugin, found and checked.
///
/// It is a regular file that no other user can change or replace: the file and all its parent folders belong to the
/// calling user or to root, and only their owner can write there.
public struct PluginFile: Hashable, Sendable {
    /// The name of the strategy, from the file name.
    public let name: String
    /// The absolute path, with no symbolic link in it.
    public let path: String
    /// The folder beside the program that the plugin may read, too; nil when there is none.
    public let dataFolder: String?
    /// The plugin in an error message.
    let title: String
    /// What to do about a failure of the program; nil for a plugin, whose strategy can be left out.
    let remedy: String?

    static let prefix = "store-migrate-strategy-"
    private static let dataSuffix = ".d"

    /// Checks the program of a name in a folder; nil when there is none.
    ///
    /// Throws `StrategyError` for a program that is not safe to run.
    init?(name: String, in folder: String) throws(StrategyError) {
        try self.init(named: name, file: Self.prefix + name, in: folder, title: "the plugin \(name)", remedy: nil)
    }

    /// Checks another program that runs as plugins do; throws `StrategyError` when there is none.
    init(program: String) throws(StrategyError) {
        let parts = program.split(separator: "/", omittingEmptySubsequences: true)
        let name = parts.last.map(String.init) ?? ""
        let folder = "/" + parts.dropLast().joined(separator: "/")
        guard !name.isEmpty,
            let found = try Self(
                named: name,
                file: name,
                in: folder,
                title: "the program \(name)",
                remedy: "Fix the program, or run the command without it."
            )
        else {
            throw StrategyError(.failed, "there is no program \(program)", recoverySuggestion: "Check the path.")
        }
        self = found
    }

    private init?(
        named name: String,
        file: String,
        in folder: String,
        title: String,
        remedy: String?
    ) throws(StrategyError) {
        guard let resolved = realpath(folder, nil) else { return nil }
        defer { free(resolved) }
        let place = String(cString: resolved)
        path = (place == "/" ? "" : place) + "/" + file
        self.name = name
        (self.title, self.remedy) = (title, remedy)
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        dataFolder = lstat(path + Self.dataSuffix, &status) == 0 ? path + Self.dataSuffix : nil
        try requireTrust()
    }

    /// Throws when another user can change the program or a parent folder.
    func requireTrust() throws(StrategyError) {
        let file = try status(of: path)
        guard file.st_mode & S_IFMT == S_IFREG else { throw refusal("it is not a regular file") }
        guard file.st_mode & 0o111 != 0 else {
            // Root runs plugins as an unprivileged user.
            let who = geteuid() == 0 || file.st_uid != geteuid() ? "" : "u"
            throw refusal("it is not executable", suggestion: "Make it executable: chmod \(who)+x '\(path)'")
        }
        guard file.st_mode & (S_ISUID | S_ISGID) == 0 else {
            throw refusal("it would run as another user or group (setuid)")
        }
        try requireOwn(file, path)
        if let dataFolder {
            let folder = try status(of: dataFolder)
            guard folder.st_mode & S_IFMT == S_IFDIR else {
                throw refusal("its data folder is not a folder", dataFolder)
            }
            try requireOwn(folder, dataFolder)
        }
        var folder = path
        while folder.count > 1, let end = folder.lastIndex(of: "/") {
            folder = end == folder.startIndex ? "/" : String(folder[..<end])
            let status = try status(of: folder)
            // In a sticky folder only the owner of a file can replace it.
            try requireOwn(status, folder, sharedWith: status.st_mode & S_ISVTX != 0 ? 0o022 : 0)
        }
    }

    private func status(of path: String) throws(StrategyError) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw refusal("its status cannot be read", path) }
        return status
    }

    /// Throws where group or others may write, except by the mode bits `bits`, and where the owner is another user than root.
    private func requireOwn(_ status: stat, _ path: String, sharedWith bits: mode_t = 0) throws(StrategyError) {
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw refusal(isFolder ? "its folder belongs to another user" : "it belongs to another user", path)
        }
        let others = status.st_mode & 0o002 != 0 ? "everybody" : "its group"
        guard status.st_mode & 0o022 & ~bits == 0 else {
            throw refusal(isFolder ? "\(others) may change its folder" : "\(others) may change it", path)
        }
    }

    /// The first path without the access that the unprivileged user that runs root's plugins needs to start the
    /// program; nil if every path grants it.
    var pathClosedToNobody: String? {
        var place = ""
        for name in path.split(separator: "/") {
            place += "/" + name
            var status = stat()
            if lstat(place, &status) == 0, status.st_mode & 0o001 == 0 { return place }
        }
        return nil
    }

    /// Throws when the store is in a folder that the plugin may read.
    func requireNoStore(at store: String) throws(StrategyError) {
        let folder = store.lastIndex(of: "/").map { String(store[..<$0]) } ?? ""
        let resolved = realpath(folder.isEmpty ? "/" : folder, nil)
        defer { free(resolved) }
        let paths = [store, resolved.map { String(cString: $0) + "/" } ?? store]
        for place in PluginSandbox.readablePlaces(for: self)
        where paths.contains(where: { $0.hasPrefix(place + "/") }) {
            throw refusal("a folder that it may read holds the store", place)
        }
    }

    /// An error with the plugin's own words.
    func failure(_ message: String, recoverySuggestion: String?) -> StrategyError {
        StrategyError(
            .failed,
            "\(title) says: \(PluginWords.repeated(message))",
            recoverySuggestion: recoverySuggestion.map(PluginWords.repeated) ?? remedy
        )
    }

    private func refusal(
        _ reason: String,
        _ path: String? = nil,
        suggestion: String = "Put it where only its owner can write, and make that owner you or root."
    ) -> StrategyError {
        StrategyError(
            .failed,
            "\(title) is not run: \(reason): \(path ?? self.path)",
            recoverySuggestion: suggestion
        )
    }
}

/// Finds plugins by name, in the folders that the caller names and nowhere else.
public struct PluginLocator: Sendable {
    private let folders: [String]

    /// Creates a locator that searches `folders` in their order.
    public init(folders: [String]) { self.folders = folders }

    /// The names of the plugins in the folders, sorted; a plugin that is not safe to run is among them.
    public var names: [String] {
        let files = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
        let names = files.filter { $0.hasPrefix(PluginFile.prefix) }
            .map { String($0.dropFirst(PluginFile.prefix.count)) }
        return Set(names.filter(StrategyName.isValid)).sorted()
    }

    /// The program `store-migrate-strategy-<name>` in the first folder that has one; nil when none has.
    ///
    /// Throws `StrategyError` for a program that is not safe to run.
    public func plugin(named name: String) throws(StrategyError) -> PluginFile? {
        // A name with a slash would refer to another folder.
        guard StrategyName.isValid(name) else { return nil }
        for folder in folders {
            if let plugin = try PluginFile(name: name, in: folder) { return plugin }
        }
        return nil
    }
}
