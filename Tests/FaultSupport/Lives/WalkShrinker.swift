package import SafeFiles

/// Finds a shortest sequence that breaks the same rule as a walk.
package struct WalkShrinker {
    private var best: Walk.Result
    private let rule: String
    private let deadline: Deadline

    /// The walk without unnecessary steps and options, as far as they are found before the deadline.
    package static func shrunk(_ result: Walk.Result, until deadline: Deadline) throws -> Walk.Result {
        guard let broken = result.violations.first else { return result }
        var shrinker = WalkShrinker(best: result, rule: broken.rule, deadline: deadline)
        shrinker.best.steps = Array(result.steps.prefix(broken.step + 1))
        try shrinker.removeSteps()
        try shrinker.removeHarms()
        try shrinker.removeOptions()
        return shrinker.best
    }

    private mutating func attempt(_ steps: [WalkStep]) throws -> Bool {
        let next = try Walk.replay(steps, in: best.setting, program: best.program)
        guard let found = next.violations.first, found.rule == rule else { return false }
        best = next
        best.steps = Array(steps.prefix(found.step + 1))
        return true
    }

    /// Removes ranges of steps, from the end to the beginning, in decreasing length.
    private mutating func removeSteps() throws {
        var size = max(best.steps.count / 2, 1)
        while !deadline.hasPassed {
            var hasShrunk = false
            var end = best.steps.count
            while end > 0, !deadline.hasPassed {
                let start = max(0, end - size)
                var steps = best.steps
                steps.removeSubrange(start..<end)
                if !steps.isEmpty, try attempt(steps) { hasShrunk = true }
                end = min(start, best.steps.count)
            }
            if size == 1, !hasShrunk { return }
            size = max(size / 2, 1)
        }
    }

    private mutating func removeHarms() throws {
        for (number, step) in best.steps.enumerated() {
            guard case .tool(var call) = step, call.harm != .none, !deadline.hasPassed else { continue }
            call.harm = .none
            try replace(number, with: .tool(call))
        }
    }

    private mutating func removeOptions() throws {
        for number in best.steps.indices {
            guard number < best.steps.count, case .tool(let call) = best.steps[number] else { continue }
            for option in call.words where option.hasPrefix("--") && !deadline.hasPassed {
                guard number < best.steps.count, case .tool(var shorter) = best.steps[number],
                    let index = shorter.words.firstIndex(of: option)
                else { continue }
                shorter.words.remove(at: index)
                if option != "--json", index < shorter.words.count, !shorter.words[index].hasPrefix("-") {
                    shorter.words.remove(at: index)
                }
                try replace(number, with: .tool(shorter))
            }
        }
    }

    private mutating func replace(_ number: Int, with step: WalkStep) throws {
        var steps = best.steps
        guard steps.indices.contains(number) else { return }
        steps[number] = step
        _ = try attempt(steps)
    }
}
