import Foundation

/// The bytes of an image file that are not zero.
package struct SparseImage: Sendable {
    private let size: Int
    private var pieces: [(offset: Int, bytes: [UInt8])] = []
    private static let pieceSize = 1 << 16

    /// Creates an image of zeros.
    package init(size: Int) { self.size = size }

    /// Reads an image file.
    package init(readingFrom path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BlockFailure(what: "cannot open \(path)", errno: errno) }
        defer { close(descriptor) }
        size = Int(lseek(descriptor, 0, SEEK_END))
        let zeros = [UInt8](repeating: 0, count: Self.pieceSize)
        var buffer = zeros
        for offset in stride(from: 0, to: size, by: Self.pieceSize) {
            let count = pread(descriptor, &buffer, Self.pieceSize, off_t(offset))
            guard count == min(Self.pieceSize, size - offset) else {
                throw BlockFailure(what: "cannot read \(path)", errno: errno)
            }
            if memcmp(buffer, zeros, count) != 0 { pieces.append((offset, Array(buffer.prefix(count)))) }
        }
    }

    /// Writes it to a file, with holes for the zeros.
    func write(to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(size)) == 0 else {
            throw BlockFailure(what: "cannot make \(path)", errno: errno)
        }
        defer { close(descriptor) }
        for (offset, bytes) in pieces {
            guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
                throw BlockFailure(what: "cannot write \(path)", errno: errno)
            }
        }
    }
}
