internal import Glibc
internal import StoreStrategies

/// The program of a plugin, found and looked at.
public struct PluginFile: Hashable, Sendable {
    /// The name of the strategy, as its file name tells it.
    public let name: String
    /// The absolute path, with no symbolic link in it.
    public let path: String

    var folder: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    static let prefix = "store-migrate-strategy-"

    /// Looks at a file; nil when nothing is there.
    ///
    /// Throws ``StrategyError`` for what nobody should run: files that others than their owner may change, in folders that
    /// strangers may write to; and for what would let a plugin read too much: a folder that is a home or holds one.
    init?(name: String, at path: String) throws(StrategyError) {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        self.name = name
        self.path = String(cString: resolved)
        try requireTrust()
        try requireNarrowFolder()
    }

    private func requireTrust() throws(StrategyError) {
        var file = stat()
        var place = stat()
        guard stat(path, &file) == 0, stat(folder.isEmpty ? "/" : folder, &place) == 0 else {
            throw refusal("it cannot be looked at")
        }
        guard file.st_mode & S_IFMT == S_IFREG else { throw refusal("it is no regular file") }
        guard file.st_mode & 0o111 != 0 else { throw refusal("it is not executable") }
        guard file.st_mode & 0o002 == 0, place.st_mode & 0o002 == 0 || place.st_mode & S_ISVTX != 0 else {
            throw refusal("everybody may change it")
        }
        guard file.st_uid == 0 || file.st_uid == geteuid() else { throw refusal("it belongs to another user") }
    }

    private func requireNarrowFolder() throws(StrategyError) {
        var homes: [String] = ["/home/x"]
        if let home = getenv("HOME") { homes.append(String(cString: home)) }
        if let entry = getpwuid(geteuid()), let home = entry.pointee.pw_dir { homes.append(String(cString: home)) }
        let folder = folder + "/"
        for home in homes where home.count > 1 {
            let resolved = realpath(home, nil)
            defer { free(resolved) }
            let place = resolved.map { String(cString: $0) } ?? home
            if (place + "/").hasPrefix(folder) { throw refusal("its folder, which it may read, holds a home") }
        }
    }

    /// Throws when a store lies where the plugin may read.
    func requireNoStore(at path: String) throws(StrategyError) {
        guard path.hasPrefix(folder + "/") else { return }
        throw refusal("its folder, which it may read, holds the store")
    }

    private func refusal(_ reason: String) -> StrategyError {
        StrategyError(
            .failed,
            "the plugin \(name) is not run: \(reason): \(path)",
            recoverySuggestion: "Put the plugin into a folder of its own that only its owner can write."
        )
    }
}
