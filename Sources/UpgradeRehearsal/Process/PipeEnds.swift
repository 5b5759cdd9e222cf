import CConfinement
import Glibc
import Synchronization
import SystemPackage

/// A pipe whose ends no other program inherits.
final class PipeEnds: Sendable {
    let reading: Int32
    private let open: Mutex<Int32?>

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard cconfinement_pipe(&ends) == 0 else {
            throw RehearsalFailure("no pipe can be made (\(Errno(rawValue: errno)))")
        }
        reading = ends[0]
        open = Mutex(ends[1])
    }

    deinit {
        closeWriting()
        close(reading)
    }

    /// The end to write; nil once it is closed.
    var writing: Int32? { open.withLock { $0 } }

    func closeWriting() {
        open.withLock { end in
            if let end { close(end) }
            end = nil
        }
    }
}
