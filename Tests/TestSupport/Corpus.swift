import Glibc
import SafeFiles
package import StoreAccess
import StoreFormat

/// The genuine stores: in `$STORE_MIGRATE_CORPUS`, else in `../shared/corpus` beside the package, else in `.build/corpus`,
/// where `make corpus` puts them.
package enum Corpus {
    /// The variable that names the folder.
    package static let variable = "STORE_MIGRATE_CORPUS"
    /// The variable that names the file that records the used stores, one per line.
    package static let record = "STORE_MIGRATE_CORPUS_RECORD"

    package static let folder: String? = {
        let named = getenv(variable).map { [String(cString: $0)] }
        return (named ?? [Checkout.path + "/../shared/corpus", Checkout.path + "/.build/corpus"])
            .lazy.compactMap { (try? Directory.open(path: $0))?.path }.first
    }()

    /// Every store found, as `<folder>/<name>`: every file with SQLite's header that is not a sidecar.
    package static let stores: [String] = {
        guard let folder, let root = try? Directory.open(path: folder) else { return [] }
        return (try? root.entries())?
            .flatMap { name in
                ((try? StoreInspector.stores(in: folder + "/" + name)) ?? []).map { name + "/" + $0.name }
            } ?? []
    }()

    /// The store in a folder of the corpus; nil where it is missing.
    package static func store(in folder: String) -> String? { stores.first { $0.hasPrefix(folder + "/") } }

    /// The whole path of a store's folder, and the name of its main file; the store counts as used.
    package static func location(of store: String) -> StoreLocation {
        note(store)
        let parts = store.split(separator: "/").map(String.init)
        return StoreLocation(folder: (folder ?? "") + "/" + parts[0], name: parts[1])
    }

    /// Copies a store's whole folder into a scratch folder: a store of the corpus is never opened in place.
    package static func copy(_ store: String, into scratch: ScratchFolder) throws -> StoreLocation {
        let location = location(of: store)
        try copy(Directory.open(path: location.folder), to: scratch.directory)
        return scratch.location(location.name)
    }

    /// Lends a connection to a private copy of a store.
    package static func withCopy<R>(_ store: String, _ body: (StoreConnection) throws -> R) throws -> R {
        let scratch = try ScratchFolder()
        return try withExtendedLifetime(scratch) {
            try body(StoreConnection(copy(store, into: scratch), access: .privateCopy))
        }
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

    /// Appends a line to the record of the used stores in one call, since tests run concurrently.
    private static func note(_ store: String) {
        guard let path = getenv(record) else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        defer { close(file) }
        let line = Array((store + "\n").utf8)
        _ = write(file, line, line.count)
    }
}
