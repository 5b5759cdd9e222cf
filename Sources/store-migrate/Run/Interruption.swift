import Glibc
import Synchronization

/// The wish to stop, as the user's signal expresses it; libraries ask for it where stopping is safe.
///
/// The first SIGINT, SIGTERM or SIGHUP sets a flag. The second one has its usual effect, which is safe too: the journal says
/// how far the run came.
enum Interruption {
    private static let flag = Atomic(false)

    /// True once the user asked to stop.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Begins to listen; a signal that the caller of this process made it ignore stays ignored.
    static func listen() {
        _ = isRequested
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            var previous = sigaction()
            sigaction(signal, nil, &previous)
            let isIgnored = unsafeBitCast(previous.__sigaction_handler.sa_handler, to: Int.self) == 1
            guard !isIgnored else { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(signal, &action, nil)
        }
        // A reader of our output that goes away must not end a run between two of its steps.
        signal(SIGPIPE, SIG_IGN)
    }
}
