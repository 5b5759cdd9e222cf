import FoundationEssentials
import Glibc
import SafeFiles
package import StoreFormat

/// The genuine stores, where they are at hand: `$STORE_MIGRATE_CORPUS`, else `../shared/corpus` beside the package.
package enum Corpus {
    package static let folder: String? = {
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = getenv("STORE_MIGRATE_CORPUS").map { String(cString: $0) } ?? "/" + package + "/../shared/corpus"
        return (try? Directory.open(path: path))?.path
    }()

    /// Every store found, as `<folder>/<name>`; a store is what bears the header and is no sidecar.
    package static let stores: [String] = {
        guard let folder, let root = try? Directory.open(path: folder) else { return [] }
        return (try? root.entries())?
            .flatMap { name in
                ((try? StoreInspector.stores(in: folder + "/" + name)) ?? []).map { name + "/" + $0.name }
            } ?? []
    }()

    package static let isAbsent: Bool = stores.isEmpty

    /// Copies a store's whole folder into a scratch folder, for no store of the corpus is ever opened in place.
    package static func copy(_ store: String, into scratch: ScratchFolder) throws -> StoreLocation {
        let parts = store.split(separator: "/")
        let source = try Directory.open(path: (folder ?? "") + "/" + parts[0])
        try copy(source, to: scratch.directory)
        return scratch.location(String(parts[1]))
    }

    private static func copy(_ source: Directory, to destination: Directory) throws {
        for name in try source.entries() {
            if try source.status(of: name)?.kind == .directory {
                try copy(source.openDirectory(name), to: destination.createDirectory(name, mode: 0o755))
            } else {
                let file = try destination.createFile(name, mode: 0o644)
                try source.contents(of: name, limit: 1 << 30).withUnsafeBytes { try file.write($0, at: 0) }
                try file.close()
            }
        }
    }
}
