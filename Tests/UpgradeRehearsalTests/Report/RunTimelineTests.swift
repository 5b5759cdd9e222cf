import StoreAccess
import Synchronization
import Testing
import UpgradeRehearsal

@Suite("The steps of a run")
struct RunTimelineTests {
    /// A clock that the test sets.
    private final class Clock: Sendable {
        let now = Mutex(Duration.zero)
        func advance(_ milliseconds: Int) { now.withLock { $0 += .milliseconds(milliseconds) } }
    }

    private let clock = Clock()
    private let timeline: RunTimeline

    init() {
        timeline = RunTimeline(elapsed: { [clock] in clock.now.withLock { $0 } })
    }

    @Test("A step lasts until the next begins, and repeating its phase continues it")
    func steps() {
        timeline.begin("planning")
        clock.advance(5)
        for done in 0...3 {
            timeline.observe(StoreProgress(phase: .copying, done: Int64(done), total: 3))
            clock.advance(10)
        }
        timeline.observe(StoreProgress(phase: .publishing, done: 1, total: 1))
        timeline.observe(StoreProgress(phase: .proving, done: 0, total: 0))
        clock.advance(3)
        // A proof's own copy is part of the proof.
        timeline.observe(StoreProgress(phase: .copying, done: 1, total: 2))
        clock.advance(4)
        let steps = timeline.finish()
        clock.advance(100)
        timeline.begin("too late")
        #expect(timeline.finish() == steps)
        #expect(
            steps == [
                .init(name: "planning", start: .zero, end: .milliseconds(5)),
                .init(name: "copying", start: .milliseconds(5), end: .milliseconds(45)),
                .init(name: "proving", start: .milliseconds(45), end: .milliseconds(52)),
            ]
        )
    }

    @Test("The number of steps is limited, and the last one absorbs the rest")
    func bounded() {
        for step in 0..<1000 {
            timeline.begin("step \(step)")
            clock.advance(1)
        }
        let steps = timeline.finish()
        #expect(steps.count == 64)
        #expect(steps.last?.end == .seconds(1))
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.end == $1.start })
    }
}
