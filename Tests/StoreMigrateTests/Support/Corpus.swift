import FoundationEssentials
import Testing

/// The genuine stores that lie beside the package, where somebody put them.
enum Corpus {
    /// One store: its folder, and the main file's name.
    struct Store: CustomTestStringConvertible, Sendable {
        let folder: String
        let name: String

        var testDescription: String { "\(folder.split(separator: "/").last ?? "")/\(name)" }
    }

    /// The folder of the stores, if there is one.
    static var folder: String? {
        let environment = ProcessInfo.processInfo.environment["STORE_MIGRATE_CORPUS"]
        let path = environment ?? Tool.package + "/../shared/corpus"
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder ? path : nil
    }

    /// Every store, found by listing.
    static let stores: [Store] = {
        guard let folder else { return [] }
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.sorted()
            .compactMap { name in
                let path = folder + "/" + name
                guard isMainFile(path), let slash = path.lastIndex(of: "/") else { return nil }
                return Store(folder: String(path[..<slash]), name: String(path[path.index(after: slash)...]))
            }
    }()

    private static func isMainFile(_ path: String) -> Bool {
        guard let handle = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped) else { return false }
        return handle.starts(with: Array("SQLite format 3\0".utf8))
    }
}
