internal import Glibc
internal import Synchronization

/// A thread that lives as long as its work.
///
/// A program that ends with its starting thread cannot be started on a pool's thread, which may end at any time.
package enum PlainThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    package static func start(_ body: @escaping @Sendable () -> Void) throws(ChildProcessError) {
        let work = Unmanaged.passRetained(Work(body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // As large as a main thread's, because YAML and predicates are parsed recursively.
        pthread_attr_setstacksize(&attributes, 8 << 20)
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            &attributes,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            },
            work.toOpaque()
        )
        guard code == 0 else {
            work.release()
            throw .cannotStart("a thread", errno: code)
        }
    }
}

/// A cancellation that one thread requests and another checks.
final class CancellationWish: Sendable {
    private let wish = Atomic(false)
    var isMade: Bool { wish.load(ordering: .relaxed) }
    func make() { wish.store(true, ordering: .relaxed) }
}
