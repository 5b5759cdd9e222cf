internal import Dispatch
internal import Glibc
internal import StoreAccess
internal import Synchronization

/// Spreads reading over the machine's cores, each worker with its own connection.
///
/// Only a store that nothing writes to shows all connections the same state, and only a large one justifies threads; else the caller's
/// connection does all the work.
struct ParallelReading {
    /// The size below which threads cost more time than they save.
    private static let leastBytes: Int64 = 16 << 20
    /// Bounds the memory, since every worker has its own page cache.
    private static let mostWorkers = 4

    private let connection: StoreConnection
    private let workers: Int

    init(_ connection: StoreConnection) {
        self.connection = connection
        workers =
            Self.isWorthwhile(for: connection) ? min(Self.mostWorkers, sysconf(Int32(_SC_NPROCESSORS_ONLN))) : 1
    }

    /// True when another connection sees the same state, and the store is large enough for threads.
    ///
    /// ``StoreReader`` drops what connections without a lock read while the store was written. Each reads the whole log first,
    /// so a large log costs more time than threads save.
    static func isWorthwhile(for connection: StoreConnection) -> Bool {
        guard [.immutable, .unlocked].contains(connection.access), !connection.hasMoved,
            (try? connection.size(of: .main)) ?? 0 >= leastBytes
        else { return false }
        return !connection.isOpen(.journal) || (try? connection.size(of: .journal)) ?? .max < leastBytes
    }

    /// Does every piece of work and returns the results in the order of the pieces.
    ///
    /// `prepare` makes a worker's context. Workers take the pieces in their order, so the longest should come first. After an
    /// error no further piece begins; the first error is thrown.
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
        let (location, access) = (connection.location, connection.access)
        DispatchQueue.concurrentPerform(iterations: min(workers, pieces.count)) { _ in
            do {
                let own = try StoreConnection(location, access: access)
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

    /// The common progress of the workers.
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
