/// How schedules are chosen.
package enum Way: Hashable, Sendable {
    /// See ``PriorityStrategy``.
    case priorities(depth: Int)
    /// See ``SwitchingStrategy``; the probability of a change in percent.
    case switching(percent: Int)
    /// See ``ExhaustiveSearch``; the limit of preemptions, if there is one.
    case exhaustive(Int?)

    /// A word for the name of a file.
    package var name: String {
        switch self {
        case .priorities(let depth): "depth\(depth)"
        case .switching(let percent): "switching\(percent)"
        case .exhaustive: "exhaustive"
        }
    }
}

/// The figures of many schedules of one scenario.
package struct Exploration: Sendable {
    package let scenario: String
    package let programs: Int
    /// The number of schedules, and of those that were abandoned because they equal a tried one.
    package private(set) var runs = 0
    package private(set) var abandoned = 0
    package private(set) var steps = 0
    package private(set) var mostSteps = 0
    package private(set) var races = 0
    private var hashes: Set<Int> = []
    /// True once every schedule was tried.
    package var isComplete = false
    /// The first schedule that breaks a rule, and its number, from 1.
    package private(set) var failure: Run?
    package private(set) var failingNumber = 0
    package let way: Way

    package init(scenario: String, programs: Int, way: Way) {
        self.scenario = scenario
        self.programs = programs
        self.way = way
    }

    /// The number of different sequences of steps.
    package var distinct: Int { hashes.count }
    package var meanSteps: Int { runs == 0 ? 0 : steps / runs }

    package mutating func add(_ run: Run) {
        runs += 1
        races += run.races
        if run.isAbandoned {
            abandoned += 1
            return
        }
        steps += run.steps.count
        mostSteps = max(mostSteps, run.steps.count)
        hashes.insert(run.steps.hashValue)
        if failure == nil, !run.violations.isEmpty {
            failure = run
            failingNumber = runs
        }
    }

    package var summary: String {
        var words = "\(scenario), \(wayDescription): \(runs) schedules (\(distinct) distinct)"
        words += ", \(meanSteps) points each, at most \(mostSteps)"
        if abandoned > 0 { words += ", \(abandoned) of them cut off by sleep sets" }
        if failure != nil { words += "; schedule \(failingNumber) breaks a rule" }
        return words
    }

    private var wayDescription: String {
        switch way {
        case .priorities(let depth):
            let bound = PriorityStrategy.bound(programs: programs, steps: mostSteps, depth: depth)
            return "PCT of depth \(depth) (bound 1/\(Int((1 / bound).rounded())) a schedule)"
        case .switching(let percent): return "random changes (\(percent) %)"
        case .exhaustive(let limit):
            let limit = limit.map { " with at most \($0) preemptions" } ?? ""
            return (isComplete ? "all schedules" : "schedules in order") + limit
        }
    }
}

extension Stage {
    /// Tries random schedules, up to the first that breaks a rule.
    ///
    /// The length of a run is estimated from the runs so far.
    package func explore(
        _ way: Way,
        runs: Int,
        seed: UInt64,
        while mayContinue: () -> Bool = { true }
    ) throws -> Exploration {
        var exploration = Exploration(scenario: scenario.name, programs: actors.count, way: way)
        var inOrder = ListedStrategy([])
        let first = try run(&inOrder)
        exploration.add(first)
        var length = first.steps.count
        for number in 0..<runs where exploration.failure == nil && mayContinue() {
            exploration.add(try run(way, steps: length, seed: seed &* 1_000_003 &+ UInt64(number)))
            length = max(length, exploration.mostSteps)
        }
        return exploration
    }

    private func run(_ way: Way, steps: Int, seed: UInt64) throws -> Run {
        switch way {
        case .priorities(let depth):
            var strategy = PriorityStrategy(programs: actors.count, steps: steps, depth: depth, seed: seed)
            return try run(&strategy)
        case .switching(let percent):
            var strategy = SwitchingStrategy(probability: Double(percent) / 100, seed: seed)
            return try run(&strategy)
        case .exhaustive:
            throw Failure("an exhaustive search has no seed")
        }
    }
}
