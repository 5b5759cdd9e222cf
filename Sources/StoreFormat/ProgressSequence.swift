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
