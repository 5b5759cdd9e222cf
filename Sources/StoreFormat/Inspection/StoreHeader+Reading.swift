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

    /// The header as a connection sees it, including pages in the log.
    package init(reading connection: StoreConnection) throws {
        let header = try withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { buffer in
            try connection.read(.main, into: buffer, at: 0)
            return StoreHeader(UnsafeRawBufferPointer(buffer))
        }
        guard let header else {
            throw StoreError(.notADatabase, path: connection.location.path, "this is not an SQLite database")
        }
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
