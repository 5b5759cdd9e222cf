import Synchronization

/// Starts one child at a time.
///
/// Until it is another program a child has every file open that its parent has. A program that asks who else has a file
/// open would find a child which another thread starts; so it is not started before all others are other programs.
package enum ChildStart {
    private static let turn = Mutex(())

    /// `start` returns once the child is another program, as `posix_spawn` does.
    package static func inTurn<Result, Failure: Error>(
        _ start: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try turn.withLock { _ throws(Failure) in try start() }
    }
}
