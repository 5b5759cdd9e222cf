import Foundation
import SafeFiles

extension StoreTemplate {
    /// The files beside the main one and its journals, by their paths.
    var externalFiles: [String: [UInt8]] { files.filter { $0.key.contains("/") } }

    /// The paths of external files that a store's folder lacks, or has with other bytes.
    func externalFilesLost(in folder: Directory) throws -> [String] {
        try externalFiles.filter { path, bytes in
            var folder = folder
            let parts = path.split(separator: "/").map(String.init)
            for part in parts.dropLast() {
                guard try folder.status(of: part) != nil else { return true }
                folder = try folder.openDirectory(part)
            }
            guard let name = parts.last, try folder.status(of: name) != nil else { return true }
            // Compared as `Data`, which is faster than byte arrays.
            return try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name)) != Data(bytes)
        }
        .keys.sorted()
    }

    /// The names of a store's files in its folder, and of its log's shared memory.
    var ownNames: Set<String> {
        Set(files.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
            .union(["\(name)-wal", "\(name)-shm"])
    }
}
