import Dispatch
import SafeFiles
import StoreFormat
import Synchronization

/// Writes a file on a thread of its own, while the caller unpacks and hashes what comes next.
///
/// It buffers at most a few pieces; the faster thread waits for the other.
final class PieceWriter {
    private static let pieceSize = 1 << 20
    private static let mostPieces = 2

    /// What the two threads share.
    private struct Output {
        var offset: Int64 = 0
        var failure: (any Error)?
        /// Buffers that can be filled again.
        var spare: [[UInt8]] = []

        mutating func take(_ piece: [UInt8], to file: DurableFile) {
            if failure == nil {
                failure = piece.withUnsafeBytes { bytes in Result { try file.write(bytes, at: offset) }.failure }
                offset += Int64(piece.count)
            }
            spare.append(piece)
        }
    }

    private let file: DurableFile
    private let output = Shared()
    private let queue = DispatchQueue(label: "store-migrate.unpacking")
    private let room = DispatchSemaphore(value: mostPieces)
    private var piece: [UInt8] = []
    private var hash = SHA256()

    private final class Shared: Sendable {
        let state = Mutex(Output())
    }

    init(to file: DurableFile) { self.file = file }

    /// The writer has to end before the file is released.
    deinit { queue.sync {} }

    /// Appends bytes to the file; throws the error of an earlier write.
    func add(_ bytes: UnsafeRawBufferPointer) throws {
        hash.update(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.pieceSize - piece.count)
            piece.append(contentsOf: part)
            rest = rest.dropFirst(part.count)
            if piece.count == Self.pieceSize { try handOver() }
        }
    }

    /// Waits until all is written, and returns the digest.
    func finish() throws -> String {
        queue.sync {}
        let last = piece
        piece = []
        try output.state.withLock { output in
            output.take(last, to: file)
            if let failure = output.failure { throw failure }
        }
        return hash.hexadecimal
    }

    private func handOver() throws {
        // The writer signals after every piece, also after a failed write.
        room.wait()
        let full = piece
        piece = output.state.withLock { $0.spare.popLast() } ?? []
        piece.removeAll(keepingCapacity: true)
        piece.reserveCapacity(Self.pieceSize)
        queue.async { [file, output, room] in
            output.state.withLock { $0.take(full, to: file) }
            room.signal()
        }
        if let failure = output.state.withLock({ $0.failure }) { throw failure }
    }
}

extension Result {
    /// The error of a write, if one failed.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
