package import SafeFiles
package import StoreFormat

/// Stores large binary values in files of their own, as Core Data does for attributes that allow it.
///
/// The file is written and made durable before the row that refers to it can be committed.
package final class ExternalDataWriter {
    /// Values with more bytes than this go to a file.
    package static let threshold = 100 * 1024

    private let location: StoreLocation
    private let directory: Directory
    private var identifiers: SeededIdentifiers
    private var folder: Directory?
    /// The number of files written so far.
    package private(set) var fileCount = 0
    /// The bytes in the files written so far.
    package private(set) var byteCount: Int64 = 0

    /// `directory` is the folder of the store at `location`; nothing is made there before the first large value.
    package init(_ location: StoreLocation, in directory: Directory, identifiers: SeededIdentifiers) {
        self.location = location
        self.directory = directory
        self.identifiers = identifiers
    }

    /// Returns what the column holds for `value`: 1 and the value, or 2 and the name of the file that holds it.
    package func stored(_ value: [UInt8]) throws -> [UInt8] {
        guard value.count > Self.threshold else { return [1] + value }
        let name = identifiers.nextText()
        try write(value, as: name)
        fileCount += 1
        byteCount += Int64(value.count)
        return [2] + Array(name.utf8) + [0]
    }

    /// Writes a file into the folder of external data, whether or not a row refers to it.
    package func write(_ value: [UInt8], as name: String) throws {
        let folder = try openFolder()
        let file = try folder.createFile(name, mode: 0o644)
        try value.withUnsafeBytes { try file.write($0, at: 0) }
        try file.synchronize()
        try file.close()
        try folder.synchronize()
    }

    /// Returns the name of the file that a column's bytes refer to; nil for a value kept inline.
    package static func fileName(in stored: [UInt8]) -> String? {
        guard stored.count == 38, stored.first == 2, stored.last == 0 else { return nil }
        return String(validating: stored[1..<37], as: UTF8.self)
    }

    /// Removes the file of a deleted value; call it once the deletion is committed.
    package func remove(_ name: String) throws {
        try openFolder().removeFile(name)
    }

    /// Opens the folder of external data, making it when it is not there.
    package func openFolder() throws -> Directory {
        if let folder { return folder }
        let support = try Self.folder(location.supportFolderName, in: directory)
        let opened = try Self.folder(StoreLocation.externalDataFolderName, in: support)
        folder = opened
        return opened
    }

    private static func folder(_ name: String, in parent: Directory) throws -> Directory {
        guard try parent.status(of: name) == nil else { return try parent.openDirectory(name) }
        return try parent.createDirectory(name, mode: 0o755)
    }
}
