package import SafeFiles
package import StoreAccess

/// Stores large binary values in external files, as Core Data does for attributes that permit it.
///
/// The file is durable before the row that refers to it can be committed.
package final class ExternalDataWriter {
    /// Values with more bytes than this go to a file.
    package static let threshold = 100 * 1024

    private let location: StoreLocation
    private let directory: Directory
    private var identifiers: SeededIdentifiers
    private var folder: Directory?
    /// The files that the current save wrote.
    private var written: [String] = []
    /// The names for the values that are stored next.
    private var namesToKeep: [(name: String, value: SQLValue)] = []
    /// The sources of the large values that are stored in pieces.
    package var sources: [any LargeValueSource] = []

    /// `directory` is the folder of the store at `location`; nothing is created there before the first large value.
    package init(_ location: StoreLocation, in directory: Directory, identifiers: SeededIdentifiers) {
        self.location = location
        self.directory = directory
        self.identifiers = identifiers
    }

    /// Starts the next save: the files of the last one stay.
    func beginSave() {
        written = []
        namesToKeep = []
    }

    /// Makes values that are stored next keep the names of their files in another store, instead of the names set
    /// before.
    ///
    /// A file is written once and never changed, so a comparison of the stores treats equal names as equal values, even
    /// if a file is missing. A name that already exists here is not used.
    package func keepNames(_ names: [(name: String, value: SQLValue)]) { namesToKeep = names }

    private func keptName(of value: SQLValue) throws -> String? {
        guard let index = namesToKeep.firstIndex(where: { $0.value == value }) else { return nil }
        let name = namesToKeep.remove(at: index).name
        return try openFolder().status(of: name) == nil ? name : nil
    }

    /// Removes the files of a failed save, as far as possible.
    func discardWrittenFiles() {
        for name in written { try? remove(name) }
        written = []
    }

    /// Returns the column's bytes for `value`: 1 and the value, or 2 and the name of its file.
    package func stored(_ value: [UInt8]) throws -> [UInt8] {
        guard value.count > Self.threshold else { return [1] + value }
        return try stored(.blob(value)) { file in try value.withUnsafeBytes { try file.write($0, at: 0) } }
    }

    /// The same for a large value, which is read and written in pieces.
    func stored(_ value: LargeValue) throws -> [UInt8] {
        try stored(.large(value)) { file in
            var offset: Int64 = 0
            try value.forEachPiece(from: sources) { piece in
                try file.write(piece, at: offset)
                offset += Int64(piece.count)
            }
        }
    }

    private func stored(_ value: SQLValue, _ fill: (DurableFile) throws -> Void) throws -> [UInt8] {
        let name = try keptName(of: value) ?? identifiers.nextText()
        written.append(name)
        try write(name, fill)
        return [2] + Array(name.utf8) + [0]
    }

    /// Writes a file into the folder of external data, whether or not a row refers to it.
    package func write(_ value: [UInt8], as name: String) throws {
        try write(name) { file in try value.withUnsafeBytes { try file.write($0, at: 0) } }
    }

    /// The same for content that `fill` writes.
    package func write(_ name: String, _ fill: (DurableFile) throws -> Void) throws {
        let folder = try openFolder()
        let (mode, group) = try storeRights()
        let file = try folder.createFile(name, mode: mode)
        if let group, try file.status().group != group { try file.setGroupIfAllowed(group) }
        try fill(file)
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
        guard let folder = try folder ?? ExternalData.open(of: location, in: directory) else { return }
        if try folder.status(of: name) != nil { try folder.removeFile(name) }
    }

    /// Opens the folder of external data, and durably creates it if it is missing.
    package func openFolder() throws -> Directory {
        if let folder { return folder }
        let (mode, group) = try storeRights()
        let opened = try ExternalData.ensure(
            of: location,
            in: directory,
            // A user with read permission on the store gets search permission on its folders.
            mode: directory.inheriting(mode | (mode & 0o444) >> 2),
            group: group
        )
        folder = opened
        return opened
    }

    /// The files get the permissions of the store.
    private func storeRights() throws -> (mode: UInt32, group: UInt32?) {
        try directory.status(of: location.name).map { ($0.mode & 0o666 | 0o600, $0.group) } ?? (0o644, nil)
    }
}
