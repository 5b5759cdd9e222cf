import InterleavingExplorer
import TestSupport
import Testing

@Suite("Controlled interleavings", .sampled, .serialized)
struct InterleavingTests {
    @Test("A migrator without a lock loses a row in some schedule, which is shrunk and replays bit for bit")
    func knownMistake() throws {
        let stage = try Stage(CopyScenario(holdsLock: false, journalMode: "wal"))
        let exploration = try stage.explore(.priorities(depth: 2), runs: 1000, seed: Seed.current)
        print(exploration.summary)
        let failure = try #require(exploration.failure)
        let shrunk = try ScheduleShrinker(stage, mostRuns: 60).shrink(failure).run
        #expect(shrunk.switches <= failure.switches)
        #expect(shrunk.violations.contains { $0.contains("lacks the acknowledged rows") })
        let schedule = Schedule(shrunk, of: stage.scenario)
        let read = try Schedule(schedule.text(violations: shrunk.violations))
        #expect(read == schedule)
        #expect(try read.replay(on: stage).difference == nil)
        #expect(try read.replay(on: Stage(stage.scenario)).difference == nil)
    }

    @Test("The same migrator with a lock loses no row")
    func lockedCopy() throws {
        let stage = try Stage(CopyScenario(holdsLock: true, journalMode: "delete"))
        let exploration = try stage.explore(.priorities(depth: 3), runs: 40, seed: Seed.current)
        print(exploration.summary)
        #expect(exploration.failure?.violations ?? [] == [])
        #expect(exploration.distinct > 10)
    }

    @Test("A search of all schedules finds two publications and a deadlock, and ends without them")
    func exhaustive() throws {
        for isMistake in [true, false] {
            for scenario in [PublicationScenario(checksFirst: isMistake), LockOrderScenario(isOrdered: !isMistake)]
                as [any Scenario]
            {
                let exploration = try ExhaustiveSearch(Stage(scenario)).explore(mostRuns: 3000)
                print(exploration.summary)
                #expect((exploration.failure != nil) == isMistake, "\(exploration.failure?.violations ?? [])")
                #expect(isMistake || exploration.isComplete)
            }
        }
    }

    @Test("A search of all schedules with one preemption finds the row that a migrator without a lock loses")
    func preemption() throws {
        for holdsLock in [false, true] {
            let scenario = try CopyScenario(holdsLock: holdsLock, journalMode: "delete", writers: 1, pairs: 1)
            let search = ExhaustiveSearch(try Stage(scenario), mostPreemptions: 1)
            let exploration = try search.explore(mostRuns: 3000)
            print(exploration.summary)
            #expect((exploration.failure == nil) == holdsLock)
            #expect(!holdsLock || exploration.isComplete)
        }
    }

    @Test("The names that the command line accepts are those of the scenarios")
    func names() throws {
        #expect(try ShareScenario.names == (ShareScenario.all() + ShareScenario.small()).map(\.name))
    }

    @Test("A share beside two writers, a reader and another share keeps every acknowledged row in each schedule")
    func shares() throws {
        for scenario in try ShareScenario.all() {
            try expectNoViolation(Stage(scenario), runs: Tier.sized(2, inVerify: 20))
        }
    }

    /// Explores random schedules of depth 2 and 3.
    private func expectNoViolation(_ stage: Stage, runs: Int) throws {
        for depth in [2, 3] {
            let exploration = try stage.explore(.priorities(depth: depth), runs: runs, seed: Seed.current)
            print(exploration.summary)
            #expect(exploration.failure?.violations ?? [] == [])
        }
    }

    @Test("A command on a shared store beside programs that write to both places keeps every acknowledged row")
    func laterCommands() throws {
        for scenario in try SharedScenario.all() {
            let stage = try Stage(scenario)
            // One program after the other: nothing keeps the command from its work.
            var inOrder = ListedStrategy([])
            let first = try stage.run(&inOrder)
            #expect(first.endings == Array(repeating: .exited(0), count: 3), "\(scenario.name)")
            try expectNoViolation(stage, runs: Tier.sized(1, inVerify: 8))
        }
    }

    @Test("Two runs of one schedule are equal, step by step")
    func determinism() throws {
        try expectEqualRuns(of: ShareScenario("share-wal", journalMode: "wal"))
        try expectEqualRuns(of: SharedScenario(.share, journalMode: "wal"))
    }

    private func expectEqualRuns(of scenario: some Scenario) throws {
        let records = try (0..<2)
            .map { _ in
                let stage = try Stage(scenario)
                var strategy = PriorityStrategy(programs: stage.actors.count, steps: 1300, depth: 3, seed: Seed.current)
                return try stage.run(&strategy).record
            }
        #expect(records[0].count > 500)
        #expect(zip(records[0], records[1]).first { $0 != $1 } == nil)
        #expect(records[0].count == records[1].count)
    }

    @Test("Steps on different files and two reads are independent, other steps are not")
    func independence() {
        let read = Point(.read, "pread", "old/a")
        let write = Point(.change, "pwrite", "old/a")
        #expect(read.isIndependent(of: read))
        #expect(!read.isIndependent(of: write))
        #expect(write.isIndependent(of: Point(.change, "pwrite", "old/b")))
        #expect(!write.isIndependent(of: Point(.read, "readdir", "old")))
        #expect(!write.isIndependent(of: Point(.change, "renameat2", "new/x", "old/a")))
        #expect(!write.isIndependent(of: Point(.memory, "shm-barrier", "old/b")))
        #expect(write.isIndependent(of: Point(.begin, "begin", ".")))
    }
}
