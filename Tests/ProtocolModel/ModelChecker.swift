/// Visits every state that can be reached, breadth first, and checks each.
package struct ModelChecker: Sendable {
    /// The size of the explored graph, and what is wrong with it.
    package struct Result: Sendable {
        package var states = 0
        package var transitions = 0
        package var settled = 0
        /// The shortest trace to each kind of violation.
        package var violations: [Violation] = []
        /// States in which every process waits for a lock that another process holds, until a deadline passes.
        package var mutualWaits = 0
        package var firstMutualWait: [String] = []
    }

    package struct Violation: Sendable, CustomStringConvertible {
        package let rule: String
        package let trace: [String]

        package var description: String {
            ([rule] + trace.enumerated().map { "  \($0.offset + 1). \($0.element)" }).joined(separator: "\n")
        }
    }

    package let model: ProtocolModel
    /// The number of states after which the search gives up.
    package var limit = 20_000_000
    /// Ends with the first violation.
    package var stopsAtFirst = false

    package init(_ model: ProtocolModel) { self.model = model }

    /// How a state was first reached.
    private struct Origin {
        let parent: Int32
        let choice: UInt16
    }

    private struct Graph {
        var indices: [StateKey: Int32] = [:]
        var origins: [Origin] = []
        var settled: [Int32] = []
        /// The steps of commands, as pairs of states.
        var sources: [Int32] = []
        var targets: [Int32] = []
    }

    package func check(_ initial: [ProtocolState]) -> Result {
        var (result, graph) = (Result(), Graph())
        var frontier: [(Int32, ProtocolState)] = []
        var rules: Set<String> = []
        func visit(_ state: ProtocolState, _ origin: Origin) -> Int32 {
            let key = state.key
            if let index = graph.indices[key] { return index }
            let index = Int32(graph.origins.count)
            graph.indices[key] = index
            graph.origins.append(origin)
            let invariants = Invariants(state: state)
            if let objection = invariants.objection, rules.insert(Self.kind(of: objection)).inserted {
                let trace = trace(to: index, in: graph, from: initial)
                result.violations.append(Violation(rule: objection, trace: trace))
            }
            if invariants.isSettled { graph.settled.append(index) }
            frontier.append((index, state))
            return index
        }
        for (number, state) in initial.enumerated() {
            _ = visit(state.canonical, Origin(parent: -1, choice: UInt16(number)))
        }
        while !frontier.isEmpty, graph.origins.count < limit, !stopsAtFirst || result.violations.isEmpty {
            let level = frontier
            frontier = []
            for (index, state) in level {
                let steps = model.steps(from: state)
                result.transitions += steps.count
                examine(steps, of: state, index, in: graph, from: initial, &rules, &result)
                for (choice, step) in steps.enumerated() {
                    let target = visit(step.state.canonical, Origin(parent: index, choice: UInt16(choice)))
                    guard step.action.isOfCommands, target != index else { continue }
                    graph.sources.append(index)
                    graph.targets.append(target)
                }
            }
        }
        result.states = graph.origins.count
        result.settled = graph.settled.count
        if graph.origins.count >= limit {
            result.violations.append(Violation(rule: "the model has more than \(limit) states", trace: []))
        } else if result.violations.isEmpty {
            findDeadEnds(in: graph, from: initial, &result)
        }
        return result
    }

    /// The rule without the rows and runs of one case.
    private static func kind(of objection: String) -> String { objection.filter { !$0.isNumber } }

    private func examine(
        _ steps: [ModelStep],
        of state: ProtocolState,
        _ index: Int32,
        in graph: Graph,
        from initial: [ProtocolState],
        _ rules: inout Set<String>,
        _ result: inout Result
    ) {
        for step in steps {
            guard let flaw = step.flaw, rules.insert(Self.kind(of: flaw)).inserted else { continue }
            let trace = trace(to: index, in: graph, from: initial) + [step.description]
            result.violations.append(Violation(rule: flaw, trace: trace))
        }
        let ofCommands = steps.filter(\.action.isOfCommands)
        if !state.processes.isEmpty, ofCommands.isEmpty, rules.insert("deadlock").inserted {
            let trace = trace(to: index, in: graph, from: initial)
            result.violations.append(
                Violation(rule: "a command is not finished, and no step is possible", trace: trace)
            )
        }
        let timeOuts = ofCommands.count { $0.action == .timeOut }
        let starts = ofCommands.count { if case .start = $0.action { true } else { false } }
        guard state.processes.count > 1, timeOuts == state.processes.count, timeOuts + starts == ofCommands.count else {
            return
        }
        result.mutualWaits += 1
        if result.firstMutualWait.isEmpty { result.firstMutualWait = trace(to: index, in: graph, from: initial) }
    }

    /// Reports a state from which no sequence of commands leads to a settled one.
    private func findDeadEnds(in graph: Graph, from initial: [ProtocolState], _ result: inout Result) {
        let count = graph.origins.count
        // The sources of each target, one after the other.
        var starts = [Int32](repeating: 0, count: count + 1)
        for target in graph.targets { starts[Int(target) + 1] += 1 }
        for index in 0..<count { starts[index + 1] += starts[index] }
        var (places, sources) = (starts, [Int32](repeating: 0, count: graph.targets.count))
        for edge in graph.targets.indices {
            let target = Int(graph.targets[edge])
            sources[Int(places[target])] = graph.sources[edge]
            places[target] += 1
        }
        var isSafe = [Bool](repeating: false, count: count)
        var queue = graph.settled
        for index in queue { isSafe[Int(index)] = true }
        while let index = queue.popLast() {
            for edge in starts[Int(index)]..<starts[Int(index) + 1] {
                let source = sources[Int(edge)]
                guard !isSafe[Int(source)] else { continue }
                isSafe[Int(source)] = true
                queue.append(source)
            }
        }
        guard let deadEnd = isSafe.firstIndex(of: false) else { return }
        let trapped = isSafe.count { !$0 }
        result.violations.append(
            Violation(
                rule: "no sequence of commands leads to a settled state from \(trapped) states; the first:",
                trace: trace(to: Int32(deadEnd), in: graph, from: initial)
            )
        )
    }

    /// The actions on the shortest way to a state, found by repeating the recorded choices.
    private func trace(to index: Int32, in graph: Graph, from initial: [ProtocolState]) -> [String] {
        var choices: [Int] = []
        var place = index
        while graph.origins[Int(place)].parent >= 0 {
            choices.append(Int(graph.origins[Int(place)].choice))
            place = graph.origins[Int(place)].parent
        }
        var state = initial[Int(graph.origins[Int(place)].choice)].canonical
        return choices.reversed()
            .map { choice in
                let steps = model.steps(from: state)
                state = steps[choice].state.canonical
                return steps[choice].description
            }
    }
}
