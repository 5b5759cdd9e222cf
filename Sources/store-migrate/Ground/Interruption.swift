import Glibc
import Synchronization

/// Cancellation by a signal of the user; libraries check it where stopping is safe.
///
/// The first SIGINT, SIGTERM or SIGHUP sets a flag. The second has its default effect, which is safe too: the next run
/// recovers from the journal.
enum Interruption {
    private static let flag = Atomic(false)

    /// True once such a signal has arrived.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Installs the handlers; a signal that this process inherited as ignored, and that would end it, stays ignored.
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
        // Where it is ignored, as by some daemons, the kernel keeps no status of a child.
        signal(SIGCHLD, SIG_DFL)
        // A closed output pipe must not kill a run between two steps.
        signal(SIGPIPE, SIG_IGN)
        // Nor does a limit on the size of files: the write fails instead.
        signal(SIGXFSZ, SIG_IGN)
    }
}
