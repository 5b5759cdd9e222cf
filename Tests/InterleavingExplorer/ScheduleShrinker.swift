/// Reduces the number of times that a failing schedule changes programs.
///
/// Each try ends the list of choices early, or joins two parts of one program's work that another program separates. It is kept
/// if the run still breaks a rule with fewer changes.
package struct ScheduleShrinker {
    /// Consecutive steps of one program.
    private struct Part {
        let actor: Int
        var count: Int
    }

    private let stage: Stage
    private let mostRuns: Int

    package init(_ stage: Stage, mostRuns: Int = 300) {
        self.stage = stage
        self.mostRuns = mostRuns
    }

    /// Returns the run with the fewest changes that was found, and the number of tries.
    package func shrink(_ failing: Run) throws -> (run: Run, tries: Int) {
        var best = failing
        var tries = 0
        var hasImproved = true
        while hasImproved {
            hasImproved = false
            var number = 0
            while tries < mostRuns, case let candidates = Self.candidates(of: best), number < candidates.count {
                tries += 1
                var strategy = ListedStrategy(candidates[number])
                let run = try stage.run(&strategy)
                if !run.violations.isEmpty, run.switches < best.switches {
                    best = run
                    hasImproved = true
                } else {
                    number += 1
                }
            }
        }
        return (best, tries)
    }

    /// Every beginning of the list, and every list in which a part moves forward or backward to join another part.
    private static func candidates(of run: Run) -> [[Int]] {
        let parts = parts(of: run)
        var lists = parts.indices.map { choices(Array(parts[...$0])) }
        for index in parts.indices {
            let rest = parts[(index + 1)...]
            guard let later = rest.firstIndex(where: { $0.actor == parts[index].actor }) else { continue }
            var forward = parts
            forward[later].count += forward[index].count
            forward.remove(at: index)
            var backward = parts
            backward[index].count += backward[later].count
            backward.remove(at: later)
            lists += [backward, forward].map(choices)
        }
        return lists
    }

    private static func parts(of run: Run) -> [Part] {
        var parts: [Part] = []
        for step in run.steps {
            if let last = parts.last, last.actor == step.actor {
                parts[parts.count - 1].count += 1
            } else {
                parts.append(Part(actor: step.actor, count: 1))
            }
        }
        return parts
    }

    private static func choices(_ parts: [Part]) -> [Int] {
        parts.flatMap { Array(repeating: $0.actor, count: $0.count) }
    }
}
