import CArchive

/// Reads an archive member by member, and trusts nothing in it.
///
/// libarchive parses only the format that the first bytes announce: one layout, at most one compression. A member that is
/// not a regular file of the size in its header is refused. The reader writes no file.
package final class ArchiveReader {
    /// A member's name and size from its header.
    package struct Member: Hashable, Sendable {
        package let name: String
        package let bytes: Int64
    }

    private let archive: OpaquePointer
    private let limits: ArchiveLimits
    package let source: ArchiveSource
    private var current: Member?
    /// The bytes handed out in all.
    private var delivered: Int64 = 0

    package init(_ source: ArchiveSource, limits: ArchiveLimits = ArchiveLimits()) throws {
        self.source = source
        self.limits = limits
        guard let archive = archive_read_new() else {
            throw BackupError(.failed, path: source.path, "no memory to read the archive")
        }
        self.archive = archive
        try support(try source.peek(512))
        // Covers the manifest only: input that is not an archive may be endless.
        source.budget = limits.mostInput(for: Int64(limits.manifestBytes)) + limits.contentsBytes
        let client = Unmanaged.passUnretained(source).toOpaque()
        if source.size != nil {
            archive_read_set_seek_callback(archive) { ArchiveReader.seek($0, $1, $2, $3) }
        }
        guard archive_read_open(archive, client, nil, { ArchiveReader.read($0, $1, $2) }, nil) == ARCHIVE_OK else {
            throw failure()
        }
    }

    deinit { archive_read_free(archive) }

    /// Enables the one reader of libarchive that the first bytes call for.
    private func support(_ start: [UInt8]) throws {
        let isTar = start.count >= 262 && start[257..<262].elementsEqual("ustar".utf8)
        if start.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            guard source.size != nil else {
                throw BackupError(
                    .notABackup,
                    path: source.path,
                    "a zip file cannot be read from a stream; give its path"
                )
            }
            archive_read_support_format_zip_seekable(archive)
        } else {
            if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
                archive_read_support_filter_zstd(archive)
            } else if start.starts(with: [0x1F, 0x8B]) {
                archive_read_support_filter_gzip(archive)
            } else if !isTar {
                throw BackupError(
                    .notABackup,
                    path: source.path,
                    "this is not an archive in a format that a backup uses"
                )
            }
            archive_read_support_format_tar(archive)
        }
    }

    /// The next member; nil after the last.
    package func next() throws -> Member? {
        var entry: OpaquePointer?
        let code = carchive_next_header(archive, &entry)
        if code == ARCHIVE_EOF {
            if let failure = source.failure { throw failure }
            return nil
        }
        guard code == ARCHIVE_OK, let entry else { throw failure() }
        guard archive_filter_count(archive) <= 2 else { throw refused("the archive is compressed more than once") }
        guard let characters = carchive_name(entry), let name = String(validatingCString: characters) else {
            throw refused("a member's name is not valid UTF-8")
        }
        guard carchive_is_plain(entry) != 0 else { throw refused("\(shown(name)) is not a regular file") }
        let bytes = carchive_size(entry)
        guard bytes >= 0 else { throw refused("\(shown(name)) has no size") }
        let member = Member(name: name, bytes: bytes)
        current = member
        return member
    }

    /// Hands the current member's bytes to `body`, piece by piece and in order.
    package func readContent(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let member = current else { return }
        current = nil
        var position: Int64 = 0
        while true {
            var start: UnsafeRawPointer?
            var count = 0
            var offset: Int64 = 0
            let code = archive_read_data_block(archive, &start, &count, &offset)
            if code == ARCHIVE_EOF { break }
            guard code == ARCHIVE_OK else { throw failure() }
            // A hole would count as bytes that the archive does not contain.
            guard offset == position else { throw refused("\(shown(member.name)) has holes") }
            position += Int64(count)
            delivered += Int64(count)
            guard position <= member.bytes else {
                throw refused("\(shown(member.name)) is longer than its header says")
            }
            guard delivered <= limits.mostBytes(from: source.size ?? source.position) else {
                throw BackupError(
                    .tooLarge,
                    path: source.path,
                    "the archive unpacks to more than \(limits.ratio) times its size"
                )
            }
            if count > 0 { try body(UnsafeRawBufferPointer(start: start, count: count)) }
        }
        guard position == member.bytes else {
            throw BackupError(.damaged, path: source.path, "\(shown(member.name)) is shorter than its header says")
        }
    }

    private func refused(_ message: String) -> BackupError { BackupError(.refused, path: source.path, message) }

    /// Why libarchive stopped: the error of the read, else libarchive's own message.
    private func failure() -> any Error {
        if let failure = source.failure { return failure }
        let text = archive_error_string(archive).map { String(cString: $0) } ?? "it cannot be read"
        return BackupError(.damaged, path: source.path, "the archive is damaged (\(shown(text)))")
    }

    /// Text from an untrusted file, truncated for display.
    private func shown(_ text: String) -> String {
        String(text.unicodeScalars.prefix(120).map { $0.properties.generalCategory == .control ? "?" : Character($0) })
    }

    fileprivate static func read(
        _ archive: OpaquePointer?,
        _ client: UnsafeMutableRawPointer?,
        _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
    ) -> Int {
        guard let client else { return -1 }
        let source = Unmanaged<ArchiveSource>.fromOpaque(client).takeUnretainedValue()
        guard let bytes = source.next() else { return -1 }
        buffer?.pointee = bytes.baseAddress
        return bytes.count
    }

    fileprivate static func seek(
        _ archive: OpaquePointer?,
        _ client: UnsafeMutableRawPointer?,
        _ offset: Int64,
        _ origin: Int32
    ) -> Int64 {
        guard let client else { return -1 }
        let source = Unmanaged<ArchiveSource>.fromOpaque(client).takeUnretainedValue()
        let start: Int64 =
            switch origin {
            case 0: 0
            case 1: source.position
            default: source.size ?? 0
            }
        let (target, overflow) = start.addingReportingOverflow(offset)
        guard !overflow else { return -1 }
        return source.seek(to: target) ?? -1
    }
}

/// The limits that reading an archive enforces; an archive that exceeds them is not written either.
package struct ArchiveLimits: Sendable {
    /// The bytes of the manifest; a member takes a few hundred.
    package var manifestBytes = 64 << 20
    package var members = 250_000
    /// The bytes of the manifest without its members.
    package var manifestFrameBytes = 16 << 20
    /// The number of values, names and brackets in these bytes.
    package var manifestParts = 2_000_000
    /// The bytes of one member's entry in the manifest.
    package var memberTextBytes = 8 << 10
    /// The bytes of one component of a member's name.
    package var nameBytes = 255
    /// The bytes of the table of contents that a zip file ends with.
    package var contentsBytes: Int64 = 32 << 20
    /// The bytes that the members may have for each byte of the archive, beyond `unquestionedBytes`.
    package var ratio: Int64 = 200
    /// The bytes that the members may have in an archive of any size.
    package var unquestionedBytes: Int64 = 64 << 20

    package init() {}

    /// The bytes to which an archive of `archiveBytes` may unpack.
    func mostBytes(from archiveBytes: Int64) -> Int64 {
        let (product, overflow) = archiveBytes.multipliedReportingOverflow(by: ratio)
        let (sum, second) = product.addingReportingOverflow(unquestionedBytes)
        return overflow || second ? .max : sum
    }

    /// The most bytes of an archive that are read for members of `bytes`: incompressible content grows a little, and each
    /// member has a header.
    func mostInput(for bytes: Int64, members: Int = 1) -> Int64 {
        let (headers, overflow) = Int64(members).multipliedReportingOverflow(by: 4096)
        let (content, second) = bytes.addingReportingOverflow(bytes / 64 + 1 << 20)
        let (sum, third) = content.addingReportingOverflow(headers)
        return overflow || second || third ? .max : sum
    }
}
