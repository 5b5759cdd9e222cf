import Foundation
import StoreFormat

/// The genuine stores that lie beside this package where it was checked out for work; elsewhere there are none.
enum Corpus {
    /// One store's folder.
    struct Entry: CustomStringConvertible, Sendable {
        let folder: URL
        let name: String
        var description: String { folder.lastPathComponent }

        /// Copies the folder, since opening a store in place would change it, and lends the copy.
        func withCopy<R>(_ body: (StoreLocation) throws -> R) throws -> R {
            let copy = FileManager.default.temporaryDirectory.appending(path: "corpus-\(UUID().uuidString)")
            try FileManager.default.copyItem(at: folder, to: copy)
            defer { try? FileManager.default.removeItem(at: copy) }
            return try body(StoreLocation(folder: copy.path, name: name))
        }
    }

    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["STORE_MIGRATE_CORPUS"] { return URL(filePath: path) }
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return package.appending(path: "../shared/corpus").standardizedFileURL
    }()

    /// Every folder in which one file is an SQLite database.
    static let all: [Entry] = {
        let folders = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return folders.sorted { $0.path < $1.path }
            .compactMap { folder in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                let isDatabase = { (name: String) in
                    let handle = try? FileHandle(forReadingFrom: folder.appending(path: name))
                    return (try? handle?.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
                }
                return names.sorted().first(where: isDatabase).map { Entry(folder: folder, name: $0) }
            }
    }()
}
