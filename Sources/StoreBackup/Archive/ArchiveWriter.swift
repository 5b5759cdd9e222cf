import CArchive
package import SafeFiles

/// Writes an archive member by member; the same members give the same bytes on every machine and at any time.
package final class ArchiveWriter {
    /// The target of libarchive's write callback.
    private final class Sink {
        let file: DurableFile
        /// True when the output is stored uncompressed in the blocks of a zstd file.
        let framesBlocks: Bool
        var offset: Int64 = 0
        var failure: (any Error)?

        init(_ file: DurableFile, framesBlocks: Bool) throws {
            self.file = file
            self.framesBlocks = framesBlocks
            if framesBlocks { try ZstdBlock.start.withUnsafeBytes(put) }
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            guard framesBlocks else { return try put(bytes) }
            var rest = bytes
            while !rest.isEmpty {
                let block = UnsafeRawBufferPointer(rebasing: rest.prefix(ZstdBlock.mostBytes))
                try ZstdBlock.header(of: block.count).withUnsafeBytes(put)
                try put(block)
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(block.count))
            }
        }

        func finish() throws {
            if framesBlocks { try ZstdBlock.header(of: 0, isLast: true).withUnsafeBytes(put) }
        }

        private func put(_ bytes: UnsafeRawBufferPointer) throws {
            try file.write(bytes, at: offset)
            offset += Int64(bytes.count)
        }
    }

    /// The parts of a zstd file (RFC 8878, section 3.1.1) whose blocks are not compressed: libarchive cannot ask for that.
    private enum ZstdBlock {
        /// As large as the window that is announced, and as any block may be.
        static let mostBytes = 1 << 17
        /// The magic number, no optional field, and a window of 128 KiB.
        static let start: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38]

        static func header(of count: Int, isLast: Bool = false) -> [UInt8] {
            let value = count << 3 | (isLast ? 1 : 0)
            return (0..<3).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
    }

    private static let pieceSize = 1 << 20

    private let archive: OpaquePointer
    private let entry: OpaquePointer
    private let sink: Sink
    private let piece: UnsafeMutableRawBufferPointer
    private let limits: ArchiveLimits
    /// The bytes of the members so far.
    private var contentBytes: Int64 = 0
    private var isClosed = false

    /// Begins an archive in `file`, which is empty.
    ///
    /// Throws ``BackupError/Code/tooLarge`` for a compression ratio that a reader refuses by its `limits`. An archive that is
    /// not `compressing` has the form's layout and is as large as its members.
    package init(
        to file: DurableFile,
        form: BackupForm,
        compressing: Bool = true,
        limits: ArchiveLimits = ArchiveLimits()
    ) throws {
        guard let archive = archive_write_new() else {
            throw BackupError(.failed, path: file.path, "no memory to write the archive")
        }
        guard let entry = archive_entry_new() else {
            archive_write_free(archive)
            throw BackupError(.failed, path: file.path, "no memory to write the archive")
        }
        self.archive = archive
        self.entry = entry
        self.limits = limits
        sink = try Sink(file, framesBlocks: form.compression == .zstd && !compressing)
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
        try set(form, compressing)
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

    private func set(_ form: BackupForm, _ compressing: Bool) throws {
        switch form.format {
        case .pax:
            try check(archive_write_set_format_pax_restricted(archive))
            switch form.compression {
            case .zstd where compressing:
                try check(archive_write_add_filter_zstd(archive))
                // The slower levels take twice the time and hardly reduce the size of a store's pages.
                try check(archive_write_set_filter_option(archive, "zstd", "compression-level", "1"))
                // The output is the same for every number of threads from 1, but differs without threads.
                try check(archive_write_set_filter_option(archive, "zstd", "threads", "2"))
            case .gzip:
                try check(archive_write_add_filter_gzip(archive))
                try check(archive_write_set_filter_option(archive, "gzip", "timestamp", nil))
                guard !compressing else { break }
                try check(archive_write_set_filter_option(archive, "gzip", "compression-level", "0"))
            case .zstd, .none: break
            }
        case .zip:
            try check(archive_write_set_format_zip(archive))
            let method = form.compression == .none || !compressing ? "store" : "deflate"
            try check(archive_write_set_format_option(archive, "zip", "compression", method))
        }
    }

    /// Adds a member of exactly `bytes` bytes, which `read` puts into a buffer from an offset on.
    package func add(
        _ name: String,
        bytes: Int64,
        _ read: (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws -> Int
    ) throws {
        try add(name, bytes: bytes) { put in
            var offset: Int64 = 0
            while offset < bytes {
                let wanted = Int(min(Int64(piece.count), bytes - offset))
                let count = try read(UnsafeMutableRawBufferPointer(rebasing: piece[..<wanted]), offset)
                guard count == wanted else {
                    throw BackupError(.failed, path: sink.file.path, "\(name) shrank while it was archived")
                }
                try put(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                offset += Int64(count)
            }
        }
    }

    /// Adds a member of exactly `bytes` bytes, which `content` hands over piece by piece.
    package func add(
        _ name: String,
        bytes: Int64,
        _ content: (_ put: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        carchive_describe(entry, name, bytes)
        try check(carchive_write_header(archive, entry))
        try content { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let written = archive_write_data(archive, rest.baseAddress, rest.count)
                guard written > 0 else { throw failure() }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
            contentBytes += Int64(bytes.count)
            try requireReadable()
        }
        try check(archive_write_finish_entry(archive))
    }

    /// Writes the archive's end and returns its size.
    package func finish() throws -> Int64 {
        try check(carchive_write_close(archive))
        isClosed = true
        try sink.finish()
        try requireReadable()
        return sink.offset
    }

    /// Throws when a reader of the bytes written so far would refuse to unpack more content.
    private func requireReadable() throws {
        guard contentBytes > limits.mostBytes(from: sink.offset) else { return }
        throw BackupError(.tooLarge, path: sink.file.path, "the archive compresses more than \(limits.ratio) to 1")
    }

    /// Throws for a warning, too: libarchive wrote something else than requested.
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
            try sink.write(UnsafeRawBufferPointer(start: bytes, count: count))
            return count
        } catch {
            sink.failure = error
            return -1
        }
    }
}
