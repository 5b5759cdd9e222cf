internal import Glibc
internal import StoreStrategies

/// The program of a plugin, found and looked at.
///
/// It is a regular file that nobody can exchange or change who is not asked to: it and the folders that lead to it belong
/// to the user who asks, or to root, and nobody else can write there.
public struct PluginFile: Hashable, Sendable {
    /// The name of the strategy, as its file name tells it.
    public let name: String
    /// The absolute path, with no symbolic link in it.
    public let path: String
    /// The folder beside it that it may read, too; nil when there is none.
    public let dataFolder: String?

    static let prefix = "store-migrate-strategy-"
    private static let dataSuffix = ".d"

    /// Looks at the program of a name in a folder; nil when nothing is there.
    ///
    /// Throws `StrategyError` for what nobody should run.
    init?(name: String, in folder: String) throws(StrategyError) {
        guard let resolved = realpath(folder, nil) else { return nil }
        defer { free(resolved) }
        let place = String(cString: resolved)
        path = (place == "/" ? "" : place) + "/" + Self.prefix + name
        self.name = name
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        dataFolder = lstat(path + Self.dataSuffix, &status) == 0 ? path + Self.dataSuffix : nil
        try requireTrust()
    }

    /// Throws when it, or what leads to it, could be somebody else's by now.
    func requireTrust() throws(StrategyError) {
        let file = try status(of: path)
        guard file.st_mode & S_IFMT == S_IFREG else { throw refusal("it is no regular file") }
        guard file.st_mode & 0o111 != 0 else { throw refusal("it is not executable") }
        guard file.st_mode & (S_ISUID | S_ISGID) == 0 else { throw refusal("it would run as somebody else (setuid)") }
        try requireOwn(file, path)
        if let dataFolder {
            let folder = try status(of: dataFolder)
            guard folder.st_mode & S_IFMT == S_IFDIR else { throw refusal("its data folder is no folder", dataFolder) }
            try requireOwn(folder, dataFolder)
        }
        var folder = path
        while folder.count > 1, let end = folder.lastIndex(of: "/") {
            folder = end == folder.startIndex ? "/" : String(folder[..<end])
            let status = try status(of: folder)
            // In a sticky folder only the owner of a file can exchange it.
            try requireOwn(status, folder, sharedWith: status.st_mode & S_ISVTX != 0 ? 0o022 : 0)
        }
    }

    private func status(of path: String) throws(StrategyError) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw refusal("it cannot be looked at", path) }
        return status
    }

    /// Throws where others than its owner may write, but for those of `bits`; and where its owner is a stranger.
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

    /// Throws when a store lies where the plugin may read.
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

    private func refusal(_ reason: String, _ path: String? = nil) -> StrategyError {
        StrategyError(
            .failed,
            "the plugin \(name) is not run: \(reason): \(path ?? self.path)",
            recoverySuggestion: "Put the plugin where only its owner can write, and make that owner you or root."
        )
    }
}
