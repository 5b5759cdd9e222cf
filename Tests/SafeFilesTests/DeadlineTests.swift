import SafeFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@Suite("Deadlines, and calls that block a thread")
struct DeadlineTests {
    private struct Refusal: Error, Equatable {}

    @Test("The time left until a deadline is positive before it and zero after it")
    func remaining() {
        let late = Deadline(after: .seconds(3600))
        #expect(!late.hasPassed)
        #expect((Duration.seconds(3000)...Duration.seconds(3600)).contains(late.remaining))
        #expect((3_000_000...3_600_000).contains(late.remainingMilliseconds))
        let past = Deadline(after: .seconds(-5))
        #expect(past.hasPassed)
        #expect(past.remaining == .zero)
        #expect(past.remainingMilliseconds == 0)
    }

    @Test("A deadline that lies farther ahead than poll(2) can wait is shortened")
    func farAhead() {
        for seconds in [10_000_000, Int64.max] {
            #expect(Deadline(after: .seconds(seconds)).remainingMilliseconds == .max)
        }
    }

    @Test("A pause takes a tenth of its time at least, and ends at the deadline")
    func pause() {
        let begin = ContinuousClock.now
        Deadline(after: .seconds(3600)).pause(upTo: .milliseconds(100))
        #expect(ContinuousClock.now - begin >= .milliseconds(10))
        Deadline(after: .zero).pause(upTo: .seconds(3600))
        Deadline(after: .seconds(-1)).pause(upTo: .zero)
    }

    /// Counts the calls that have begun, and lets each wait for all others.
    private final class Meeting: Sendable {
        private static let size = 64
        private let arrived = Mutex(0)

        @concurrent
        static func call(_ meeting: Meeting) async throws {
            try await BlockingCall.run { () throws(Refusal) in try meeting.attend() }
        }

        static func hold() async throws {
            let meeting = Meeting()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<size { group.addTask { try await call(meeting) } }
                try await group.waitForAll()
            }
        }

        private func attend() throws(Refusal) {
            arrived.withLock { $0 += 1 }
            let deadline = Deadline(after: .seconds(60))
            while arrived.withLock({ $0 < Self.size }) {
                guard !deadline.hasPassed else { throw Refusal() }
                deadline.pause(upTo: .milliseconds(1))
            }
        }
    }

    @Test("Calls that wait for each other each have a thread, however few processors there are")
    func manyCalls() async throws { try await Meeting.hold() }

    @Test("A blocking call returns its value or throws its error, and sees the cancellation of its task")
    func blockingCall() async {
        #expect(await BlockingCall.run { 7 } == 7)
        await #expect(throws: Refusal.self) {
            try await BlockingCall.run { () throws(Refusal) -> Int in throw Refusal() }
        }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await BlockingCall.run { Task.isCancelled }
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test("A wait for asynchronous work returns its value or throws its error, and asks meanwhile whether to stop")
    func wait() throws {
        let asked = Mutex(false)
        let value = try BlockingCall.wait(
            for: {
                while !asked.withLock({ $0 }) { await Task.yield() }
                return 7
            },
            requireTime: { asked.withLock { $0 = true } }
        )
        #expect(value == 7)
        #expect(throws: Refusal.self) {
            try BlockingCall.wait(for: { () async throws -> Int in throw Refusal() }, requireTime: {})
        }
    }

    @Test("When the caller's time is over, the work is cancelled and ends before the wait does")
    func cancelled() {
        let hasEnded = Mutex(false)
        #expect(throws: Refusal.self) {
            try BlockingCall.wait(
                for: {
                    while !Task.isCancelled { await Task.yield() }
                    Deadline(after: .seconds(60)).pause(upTo: .milliseconds(200))
                    hasEnded.withLock { $0 = true }
                },
                requireTime: { throw Refusal() }
            )
        }
        #expect(hasEnded.withLock { $0 })
    }
}
