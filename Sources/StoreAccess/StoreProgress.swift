internal import Synchronization

/// The progress of long work.
public struct StoreProgress: Hashable, Sendable {
    /// The current phase.
    public enum Phase: String, Sendable, Codable, CaseIterable {
        case inspecting
        case copying
        case proving
        case publishing
    }

    public let phase: Phase
    /// Units done so far; bytes while copying, rows while proving.
    public let done: Int64
    /// Units in all, as far as known.
    public let total: Int64

    public init(phase: Phase, done: Int64, total: Int64) {
        self.phase = phase
        self.done = done
        self.total = total
    }
}

/// The progress of one piece of work, and then its outcome, as a sequence.
///
/// The work starts when an iteration begins, and is cancelled when the iteration ends early or its task is cancelled.
///
/// ```swift
/// let share = ProgressSequence { report in
///     try await StoreMigrator(from: old, to: new, onProgress: report).shareStoreIfNecessary()
/// }
/// for try await update in share {
///     switch update {
///     case .progress(let step): print(step.phase, step.done, step.total)
///     case .outcome(let outcome): print(outcome.outcome)
///     }
/// }
/// ```
public struct ProgressSequence<Outcome: Sendable>: AsyncSequence, Sendable {
    /// An element: any number of steps, then one outcome.
    public enum Update: Sendable {
        case progress(StoreProgress)
        case outcome(Outcome)
    }

    /// A slow reader misses steps, never the outcome, which is the newest element.
    private static var buffered: Int { 16 }

    private let work: @Sendable (@escaping @Sendable (StoreProgress) -> Void) async throws -> Outcome

    /// Creates the sequence of `work`, which gets the function to pass as `onProgress`.
    public init(_ work: @escaping @Sendable (@escaping @Sendable (StoreProgress) -> Void) async throws -> Outcome) {
        self.work = work
    }

    public func makeAsyncIterator() -> AsyncThrowingStream<Update, any Error>.Iterator {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.buffered)) { continuation in
            let task = Task {
                do {
                    let outcome = try await work { continuation.yield(.progress($0)) }
                    continuation.yield(.outcome(outcome))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
        .makeAsyncIterator()
    }
}

/// A trigger point of a run that writes: a rehearsal may stop or kill the run there, or let other processes act.
///
/// Outside a rehearsal there are no observers, and passing a trigger point does nothing.
package enum TriggerPoint: String, Sendable, CaseIterable {
    /// A share without a copy is journalled; the old store's fence and its record are next.
    case protecting
    /// Before the copy is created.
    case copying
    /// The copy is complete, and its proof is next.
    case proving
    /// The copy is proved; no lock is held.
    case publishing
    /// The new store is published; the old one is locked against writers, and not fenced yet.
    case placed
    /// All effects visible to other processes are complete; no lock is held.
    case published
    /// The merge is planned and journalled, and its transaction is next.
    case merging
    /// The merge's transaction is committed; the journal does not record that yet.
    case merged
    /// The old store is marked read-only and no process has it open; its removal is next.
    case retiring

    private static let observers = Mutex<[@Sendable (TriggerPoint) -> Void]>([])

    /// Adds an observer that is called at every later trigger point, on the thread that passes it.
    package static func observe(_ body: @escaping @Sendable (TriggerPoint) -> Void) {
        observers.withLock { $0.append(body) }
    }

    /// Calls the observers, and returns when they do.
    package func pass() {
        for observer in Self.observers.withLock({ $0 }) { observer(self) }
    }
}
