import Glibc
import SafeFiles
import StoreFormat

/// The genuine stores, where they are at hand: `$STORE_MIGRATE_CORPUS`, else `../shared/corpus` beside the package.
enum GenuineStores {
    private static let folder: String = {
        let package = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return getenv("STORE_MIGRATE_CORPUS").map { String(cString: $0) } ?? "/" + package + "/../shared/corpus"
    }()

    /// Every store, as `<folder>/<name>`.
    static let names: [String] = {
        guard let root = try? Directory.open(path: folder) else { return [] }
        return ((try? root.entries()) ?? [])
            .flatMap { name in
                ((try? StoreInspector.stores(in: folder + "/" + name)) ?? []).map { name + "/" + $0.name }
            }
    }()

    /// Lends a connection to a private copy of a store, its log and journal included.
    static func withCopy<R>(_ store: String, _ body: (StoreConnection) throws -> R) throws -> R {
        let parts = store.split(separator: "/").map(String.init)
        let source = try Directory.open(path: folder + "/" + parts[0])
        let scratch = try TemporaryDirectory(prefix: "store-writing-tests")
        defer { scratch.remove() }
        for name in [parts[1], parts[1] + "-wal", parts[1] + "-journal"] where try source.status(of: name) != nil {
            let file = try scratch.directory.createFile(name, mode: 0o600)
            try source.contents(of: name, limit: 1 << 28).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }
        let location = StoreLocation(folder: scratch.directory.path, name: parts[1])
        return try body(StoreConnection(location, access: .privateCopy))
    }
}
