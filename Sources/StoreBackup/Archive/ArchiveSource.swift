package import FoundationEssentials
package import SafeFiles
import StoreAccess
import SystemPackage

/// Where an archive's bytes come from: a file, or a stream that can be read once.
package final class ArchiveSource {
    private enum Origin {
        case file(DurableFile, size: Int64)
        case stream((UnsafeMutableRawBufferPointer) throws -> Int)
    }

    private static let blockSize = 256 << 10

    private let origin: Origin
    private let block: UnsafeMutableRawBufferPointer
    /// Bytes at the start of `block` that `peek` read and `next` has not returned yet.
    private var peeked = 0
    /// The bytes that may still be returned; bytes that are read twice count twice.
    var budget = Int64.max
    private var handedOut: Int64 = 0
    private(set) var position: Int64 = 0
    /// The error of a failed read; libarchive's callback cannot pass it on.
    private(set) var failure: (any Error)?
    package let path: String

    package init(_ file: DurableFile) throws {
        origin = .file(file, size: try file.status().size)
        path = file.path
        block = .allocate(byteCount: Self.blockSize, alignment: 16)
    }

    /// A stream; `read` fills a buffer and returns how many bytes it put there, 0 at the end.
    package init(stream path: String, read: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        origin = .stream(read)
        self.path = path
        block = .allocate(byteCount: Self.blockSize, alignment: 16)
    }

    deinit { block.deallocate() }

    /// The bytes of a file; nil of a stream.
    package var size: Int64? {
        if case .file(_, let size) = origin { size } else { nil }
    }

    /// The archive's first bytes; reading returns them again.
    func peek(_ count: Int) throws -> [UInt8] {
        while peeked < min(count, block.count) {
            let read = try fill(UnsafeMutableRawBufferPointer(rebasing: block[peeked...]), at: Int64(peeked))
            guard read > 0 else { break }
            peeked += read
        }
        return Array(block.prefix(min(count, peeked)))
    }

    /// The next bytes, which are valid until the next call; nil when reading failed.
    func next() -> UnsafeRawBufferPointer? {
        do {
            if peeked > 0 {
                defer { peeked = 0 }
                position = Int64(peeked)
                handedOut += position
                return UnsafeRawBufferPointer(rebasing: block[..<peeked])
            }
            let count = try fill(block, at: position)
            position += Int64(count)
            handedOut += Int64(count)
            guard handedOut <= budget else {
                throw BackupError(.tooLarge, path: path, "the archive is longer than its members need")
            }
            return UnsafeRawBufferPointer(rebasing: block[..<count])
        } catch {
            failure = error
            return nil
        }
    }

    /// Seeks to an offset of the file and returns it; nil for a stream, and outside the file.
    func seek(to offset: Int64) -> Int64? {
        guard let size, (0...size).contains(offset) else { return nil }
        peeked = 0
        position = offset
        return offset
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        switch origin {
        case .file(let file, _): try file.read(into: buffer, at: offset)
        case .stream(let read): try read(buffer)
        }
    }
}

extension ArchiveSource {
    /// Opens the archive at `url` to be read.
    package convenience init(at url: URL) throws {
        let place = StoreLocation(url: url)
        do {
            try self.init(Directory.open(path: place.folder).openFile(place.name, for: .reading))
        } catch {
            throw Self.told(error, place.path)
        }
    }

    /// The error with "archive" in its message where the path does not refer to a readable archive.
    private static func told(_ error: any Error, _ path: String) -> any Error {
        guard let error = error as? FileError else { return error }
        if error.errno == .noSuchFileOrDirectory { return BackupError(.absent, path: path, "there is no archive") }
        guard let refusal = error.refusal, case .wrongKind(let kind) = refusal else { return error }
        return switch kind {
        case .symbolicLink: BackupError(.notABackup, path: path, "this is a symbolic link; give the archive's own path")
        case .fifo: BackupError(.notABackup, path: path, "this is a FIFO; send it to standard input, and name that -")
        default: BackupError(.notABackup, path: path, "\(refusal), not an archive")
        }
    }
}
