internal import Dispatch
internal import Glibc
import StoreFormat
internal import Synchronization

/// Spreads reading work over the machine's cores, each worker with a connection of its own.
///
/// Only a store at rest shows every connection the same, and only a large one is worth it; else the caller's
/// connection does all the work in turn.
struct ParallelReading {
    /// Below this size threads cost more than they bring.
    private static let leastBytes: Int64 = 16 << 20
    /// Every worker has a page cache of its own, and memory is to stay flat.
    private static let mostWorkers = 4

    private let connection: StoreConnection
    private let workers: Int

    init(_ connection: StoreConnection) {
        self.connection = connection
        workers =
            Self.isWorthwhile(for: connection) ? min(Self.mostWorkers, sysconf(Int32(_SC_NPROCESSORS_ONLN))) : 1
    }

    /// True when another connection sees what this one does, and there is enough to read for a thread of its own.
    static func isWorthwhile(for connection: StoreConnection) -> Bool {
        guard connection.access == .immutable, !connection.hasMoved else { return false }
        return ((try? connection.size(of: .main)) ?? 0) >= leastBytes
    }

    /// Does every piece of work and returns the results in the order of the pieces.
    ///
    /// `prepare` makes what one worker needs besides its connection. Workers take the pieces in their order, so the
    /// longest should come first. After an error no further piece is begun; the first error is thrown.
    func map<Piece: Sendable, Context, Output: Sendable>(
        _ pieces: [Piece],
        prepare: @Sendable (StoreConnection) throws -> Context,
        _ body: @Sendable (Piece, Context) throws -> Output
    ) throws -> [Output] {
        guard workers > 1, pieces.count > 1 else {
            let context = try prepare(connection)
            return try pieces.map { try body($0, context) }
        }
        let progress = Mutex(Progress<Output>(count: pieces.count))
        let location = connection.location
        DispatchQueue.concurrentPerform(iterations: min(workers, pieces.count)) { _ in
            do {
                let own = try StoreConnection(location, access: .immutable)
                let context = try prepare(own)
                while let index = progress.withLock({ $0.take() }) {
                    let output = try body(pieces[index], context)
                    progress.withLock { $0.outputs[index] = output }
                }
            } catch {
                progress.withLock { $0.fail(error) }
            }
        }
        return try progress.withLock { progress in
            if let error = progress.error { throw error }
            return progress.outputs.compactMap { $0 }
        }
    }

    /// How far the workers have come together.
    private struct Progress<Output: Sendable> {
        var outputs: [Output?]
        private var next = 0
        private(set) var error: (any Error)?

        init(count: Int) {
            outputs = Array(repeating: nil, count: count)
        }

        /// The next piece to do; nil when none is left or one failed.
        mutating func take() -> Int? {
            guard error == nil, next < outputs.count else { return nil }
            next += 1
            return next - 1
        }

        mutating func fail(_ error: any Error) {
            if self.error == nil { self.error = error }
        }
    }
}
