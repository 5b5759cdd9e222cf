import FoundationEssentials
import SafeFiles
import StoreFormat

/// Every name, mode and byte below a folder at one time.
struct PlaceSnapshot {
    /// The state of each path.
    private let entries: [String: String]

    init(of directory: Directory) throws {
        var entries: [String: String] = [:]
        try Self.read(directory, "", &entries)
        self.entries = entries
    }

    /// The first path, at or below `path`, that differs from another snapshot; nil when all are equal.
    func difference(at path: String, from other: PlaceSnapshot) -> String? {
        let names = Set(entries.keys).union(other.entries.keys)
            .filter { $0 == path || $0.hasPrefix(path + "/") }
        return names.sorted().first { entries[$0] != other.entries[$0] }
    }

    /// True when a path exists.
    func holds(_ path: String) -> Bool { entries[path] != nil }

    private static func read(_ directory: Directory, _ path: String, _ entries: inout [String: String]) throws {
        for name in try directory.entries() {
            guard let status = try directory.status(of: name) else { continue }
            let below = path.isEmpty ? name : path + "/" + name
            let rights = "\(status.kind.rawValue) \(String(status.mode, radix: 8))"
            switch status.kind {
            case .directory:
                entries[below] = rights
                try read(directory.openDirectory(name), below, &entries)
            case .regular: entries[below] = rights + " " + digest(directory.path + "/" + name)
            case .symbolicLink:
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: directory.path + "/" + name)
                entries[below] = rights + " " + (target ?? "")
            default: entries[below] = rights
            }
        }
    }

    /// The digest of a file, or a constant for an unreadable one.
    private static func digest(_ path: String) -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return "unreadable" }
        return SHA256.hexadecimal(of: Array(data))
    }
}
