import TestSupport

/// The state in which a strategy chooses.
package struct Situation {
    /// The number of steps so far.
    package let step: Int
    /// The programs that can continue, in order; never empty.
    package let enabled: [Int]
    /// The program that made the last step.
    package let last: Int?
    /// The point at which a program waits.
    package let point: (_ actor: Int) -> Point

    /// The choice without a strategy: the same program as long as possible.
    package var defaultChoice: Int {
        if let last, enabled.contains(last) { last } else { enabled[0] }
    }
}

/// Chooses the program that continues.
package protocol Strategy {
    /// The number of the program, one of those enabled; nil abandons the run.
    mutating func choose(_ situation: Situation) -> Int?
}

/// Probabilistic concurrency testing (Burckhardt and others, 2010): random priorities, and a few random steps at which the
/// priority of the running program becomes the lowest.
///
/// A bug of depth d, which d ordered steps trigger, is found by one run with a probability of at least 1/(n·k^(d−1)), for n
/// programs and k steps. The bound is proved for programs that do not wait; pauses end by the virtual clock here.
package struct PriorityStrategy: Strategy {
    private var priorities: [Int]
    private var changes: [Int: Int] = [:]

    package init(programs: Int, steps: Int, depth: Int, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        priorities = Array(depth..<depth + programs).shuffled(using: &generator)
        for number in 1..<max(depth, 1) {
            changes[Int.random(in: 1...max(steps, 1), using: &generator)] = number
        }
    }

    package mutating func choose(_ situation: Situation) -> Int? {
        if let priority = changes[situation.step], let last = situation.last { priorities[last] = priority }
        return situation.enabled.max { priorities[$0] < priorities[$1] }
    }

    /// The least probability with which one run finds a bug of this depth.
    package static func bound(programs: Int, steps: Int, depth: Int) -> Double {
        var bound = 1 / Double(max(programs, 1))
        for _ in 1..<max(depth, 1) { bound /= Double(max(steps, 1)) }
        return bound
    }
}

/// Changes programs with a small probability at each operation on shared memory, and else only where a program waits or ends.
///
/// It reaches bugs of a greater depth than ``PriorityStrategy`` does in long runs that repeat a pattern, without a bound.
package struct SwitchingStrategy: Strategy {
    private let probability: Double
    private var generator: SeededGenerator

    package init(probability: Double, seed: UInt64) {
        self.probability = probability
        generator = SeededGenerator(seed: seed)
    }

    package mutating func choose(_ situation: Situation) -> Int? {
        guard let last = situation.last, situation.enabled.contains(last) else {
            return situation.enabled.randomElement(using: &generator)
        }
        guard situation.point(last).kind == .memory, Double.random(in: 0..<1, using: &generator) < probability else {
            return last
        }
        return situation.enabled.filter { $0 != last }.randomElement(using: &generator) ?? last
    }
}

/// Follows a list of programs as far as they can continue, then the default choice.
package struct ListedStrategy: Strategy {
    private let choices: [Int]
    private var next = 0

    package init(_ choices: [Int]) { self.choices = choices }

    package mutating func choose(_ situation: Situation) -> Int? {
        while next < choices.count {
            let choice = choices[next]
            next += 1
            if situation.enabled.contains(choice) { return choice }
        }
        return situation.defaultChoice
    }
}
