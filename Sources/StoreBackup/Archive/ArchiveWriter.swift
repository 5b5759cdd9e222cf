import CArchive
package import SafeFiles

/// Writes an archive member by member; the same members give the same bytes, whoever writes them and when.
package final class ArchiveWriter {
    /// What libarchive's callback writes to.
    private final class Sink {
        let file: DurableFile
        var offset: Int64 = 0
        var failure: (any Error)?

        init(_ file: DurableFile) { self.file = file }
    }

    private static let pieceSize = 1 << 20

    private let archive: OpaquePointer
    private let entry: OpaquePointer
    private let sink: Sink
    private let piece: UnsafeMutableRawBufferPointer
    private var isClosed = false

    /// Begins an archive in `file`, which is empty.
    package init(to file: DurableFile, form: BackupForm) throws {
        guard let archive = archive_write_new() else {
            throw BackupError(.failed, path: file.path, "no memory to write the archive")
        }
        guard let entry = archive_entry_new() else {
            archive_write_free(archive)
            throw BackupError(.failed, path: file.path, "no memory to write the archive")
        }
        self.archive = archive
        self.entry = entry
        sink = Sink(file)
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
        try set(form)
        let client = Unmanaged.passUnretained(sink).toOpaque()
        try check(archive_write_set_bytes_per_block(archive, 1 << 16))
        try check(archive_write_set_bytes_in_last_block(archive, 1))
        try check(archive_write_open(archive, client, nil, { ArchiveWriter.write($1, $2, $3) }, nil))
    }

    deinit {
        // Freeing an archive that was not closed would write its end.
        if !isClosed { archive_write_fail(archive) }
        archive_write_free(archive)
        archive_entry_free(entry)
        piece.deallocate()
    }

    private func set(_ form: BackupForm) throws {
        switch form.format {
        case .pax:
            try check(archive_write_set_format_pax_restricted(archive))
            switch form.compression {
            case .zstd:
                try check(archive_write_add_filter_zstd(archive))
                // Pages of a store hardly get smaller by the slower levels, which take twice the time.
                try check(archive_write_set_filter_option(archive, "zstd", "compression-level", "1"))
                // What comes out is the same on every machine, however many threads there are; but not without any.
                try check(archive_write_set_filter_option(archive, "zstd", "threads", "2"))
            case .gzip:
                try check(archive_write_add_filter_gzip(archive))
                try check(archive_write_set_filter_option(archive, "gzip", "timestamp", nil))
            case .none: break
            }
        case .zip:
            try check(archive_write_set_format_zip(archive))
            let method = form.compression == .none ? "store" : "deflate"
            try check(archive_write_set_format_option(archive, "zip", "compression", method))
        }
    }

    /// Adds a member of exactly `bytes` bytes, which `read` puts into a buffer from an offset on.
    package func add(
        _ name: String,
        bytes: Int64,
        _ read: (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int
    ) throws {
        carchive_describe(entry, name, bytes)
        try check(carchive_write_header(archive, entry))
        var offset: Int64 = 0
        while offset < bytes {
            let wanted = Int(min(Int64(piece.count), bytes - offset))
            let count = try read(UnsafeMutableRawBufferPointer(rebasing: piece[..<wanted]), offset)
            guard count == wanted else {
                throw BackupError(.failed, path: sink.file.path, "\(name) became shorter while it was archived")
            }
            var done = 0
            while done < count {
                let written = archive_write_data(archive, piece.baseAddress?.advanced(by: done), count - done)
                guard written > 0 else { throw failure() }
                done += written
            }
            offset += Int64(count)
        }
        try check(archive_write_finish_entry(archive))
    }

    /// Writes the archive's end and returns its size.
    package func finish() throws -> Int64 {
        try check(carchive_write_close(archive))
        isClosed = true
        return sink.offset
    }

    /// A warning is a failure: it says that something was written otherwise than asked.
    private func check(_ code: Int32) throws {
        guard code == ARCHIVE_OK else { throw failure() }
    }

    private func failure() -> any Error {
        if let failure = sink.failure { return failure }
        let text = archive_error_string(archive).map { String(cString: $0) } ?? "unknown"
        return BackupError(.failed, path: sink.file.path, "the archive cannot be written (\(text))")
    }

    fileprivate static func write(_ client: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        guard let client else { return -1 }
        let sink = Unmanaged<Sink>.fromOpaque(client).takeUnretainedValue()
        do {
            try sink.file.write(UnsafeRawBufferPointer(start: bytes, count: count), at: sink.offset)
            sink.offset += Int64(count)
            return count
        } catch {
            sink.failure = error
            return -1
        }
    }
}
