package import SafeFiles

/// The relevant fields of an SQLite database header, the first hundred bytes.
///
/// Source: "Database File Format", section 1.3, of SQLite's documentation.
public struct StoreHeader: Hashable, Sendable {
    /// How changes become durable.
    public enum JournalMode: String, Sendable, Codable {
        case wal
        case rollback
    }

    /// The size of one page in bytes.
    public let pageSize: Int
    public let journalMode: JournalMode
    /// The number of pages in the header; nil if it is not valid for this version of the file.
    public let pageCount: Int64?
    public let changeCounter: UInt32
    public let schemaCookie: UInt32
    public let userVersion: Int32
    public let applicationID: Int32

    package init(
        pageSize: Int,
        journalMode: JournalMode,
        pageCount: Int64?,
        changeCounter: UInt32,
        schemaCookie: UInt32,
        userVersion: Int32,
        applicationID: Int32
    ) {
        self.pageSize = pageSize
        self.journalMode = journalMode
        self.pageCount = pageCount
        self.changeCounter = changeCounter
        self.schemaCookie = schemaCookie
        self.userVersion = userVersion
        self.applicationID = applicationID
    }
}

extension StoreHeader {
    /// The number of bytes at the start of a database that make up its header.
    package static let byteCount = 100

    /// Reads the header; nil if the bytes do not begin as an SQLite database.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.byteCount, bytes[..<16].elementsEqual("SQLite format 3\0".utf8) else { return nil }
        let claimed = Int(bytes[16]) << 8 | Int(bytes[17])
        // 65536 does not fit into two bytes and is written as 1.
        let pageSize = claimed == 1 ? 65_536 : claimed
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        func number(_ offset: Int) -> UInt32 {
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        let changeCounter = number(24)
        // The page count is valid only if it was written together with this change counter.
        let pageCount = number(92) == changeCounter && number(28) > 0 ? Int64(number(28)) : nil
        self.init(
            pageSize: pageSize,
            journalMode: bytes[18] == 2 || bytes[19] == 2 ? .wal : .rollback,
            pageCount: pageCount,
            changeCounter: changeCounter,
            schemaCookie: number(40),
            userVersion: Int32(bitPattern: number(60)),
            applicationID: Int32(bitPattern: number(68))
        )
    }

    /// True if a file of that size has fewer pages than the header claims.
    func isTruncated(fileSize: Int64) -> Bool {
        guard let pageCount else { return fileSize < Int64(pageSize) }
        return fileSize / Int64(pageSize) < pageCount
    }

    /// The header in the main file of a connection, without pages in the log.
    init(mainFileOf connection: StoreConnection) throws {
        let header = try withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { buffer in
            try connection.read(.main, into: buffer, at: 0)
            return StoreHeader(UnsafeRawBufferPointer(buffer))
        }
        guard let header else {
            throw StoreError(.notADatabase, path: connection.location.path, "this is not an SQLite database")
        }
        self = header
    }

    /// The header as a connection sees it, including pages in the log.
    package init(reading connection: StoreConnection) throws {
        let header = try StoreHeader(mainFileOf: connection)
        func number(_ pragma: String) throws -> Int64 { try connection.value("PRAGMA " + pragma)?.integer ?? 0 }
        self.init(
            pageSize: header.pageSize,
            journalMode: header.journalMode,
            pageCount: try number("page_count"),
            changeCounter: header.changeCounter,
            schemaCookie: UInt32(truncatingIfNeeded: try number("schema_version")),
            userVersion: Int32(truncatingIfNeeded: try number("user_version")),
            applicationID: Int32(truncatingIfNeeded: try number("application_id"))
        )
    }
}

extension StoreHeader {
    /// The file format versions in a store's main file, for writing and for reading (bytes 18 and 19).
    ///
    /// They are read without the log: after a power cut the main file may be invalid without it.
    package static func formatVersions(of store: StoreLocation) throws -> (writing: UInt8, reading: UInt8) {
        let main = try MainFile(try VettedFile(store), path: store.path)
        var bytes: [UInt8] = [0, 0]
        try bytes.withUnsafeMutableBytes { try main.read(into: $0, at: 18) }
        return (bytes[0], bytes[1])
    }
}

extension StoreLocation {
    /// True for a file that begins as a database, and false for one that is no store for this user.
    ///
    /// Throws if the file cannot be read.
    package func isStore(in folder: Directory) throws -> Bool {
        guard let status = try folder.status(of: name), status.kind == .regular,
            status.size >= StoreHeader.byteCount
        else { return false }
        do {
            return try MainFile(VettedFile(self, in: folder), path: path).header() != nil
        } catch let refusal as UnreadableStore where refusal.reason != .inputOutput {
            return false
        } catch {
            // A program that closes its store removes the log.
            guard try folder.status(of: name)?.identity == status.identity else { return false }
            throw error
        }
    }
}
