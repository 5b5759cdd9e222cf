/// Tries every schedule of a small scenario, in depth-first order, each from the beginning.
///
/// Sleep sets (Godefroid, 1996) leave out schedules that differ from a tried one only in the order of independent steps. With
/// a limit of preemptions, every schedule within the limit is tried, and no sleep sets are used: together they would leave out
/// schedules whose equivalent is beyond the limit.
package struct ExhaustiveSearch {
    /// A choice of the current schedule, and what is known about its alternatives.
    private struct Node {
        let enabled: [Int]
        /// The programs whose next step was tried elsewhere, in an equivalent schedule.
        let sleeping: [Int: Point]
        let points: [Int: Point]
        /// The preemptions before this choice.
        let preemptions: Int
        let last: Int?
        var tried: [Int] = []
        var choice: Int

        func isPreemption(_ actor: Int) -> Bool { last.map { $0 != actor && enabled.contains($0) } ?? false }
    }

    /// Follows the nodes, and adds one for each further choice.
    private struct Walk: Strategy {
        var nodes: [Node]
        let mostPreemptions: Int?
        private var depth = 0

        init(_ nodes: [Node], mostPreemptions: Int?) {
            self.nodes = nodes
            self.mostPreemptions = mostPreemptions
        }

        mutating func choose(_ situation: Situation) -> Int? {
            defer { depth += 1 }
            if depth < nodes.count { return nodes[depth].choice }
            let points = Dictionary(uniqueKeysWithValues: situation.enabled.map { ($0, situation.point($0)) })
            var node = Node(
                enabled: situation.enabled,
                sleeping: mostPreemptions == nil ? Self.sleeping(after: nodes.last) : [:],
                points: points,
                preemptions: nodes.last.map { $0.preemptions + ($0.isPreemption($0.choice) ? 1 : 0) } ?? 0,
                last: situation.last,
                choice: -1
            )
            guard let choice = Self.next(of: node, mostPreemptions, first: situation.defaultChoice) else { return nil }
            node.choice = choice
            nodes.append(node)
            return choice
        }

        /// The programs that need not move after a choice: their steps were tried, and do not depend on it.
        private static func sleeping(after node: Node?) -> [Int: Point] {
            guard let node, let chosen = node.points[node.choice] else { return [:] }
            var sleeping = node.sleeping
            for actor in node.tried { sleeping[actor] = node.points[actor] }
            return sleeping.filter { $0.key != node.choice && $0.value.isIndependent(of: chosen) }
        }

        /// The next program to try at a node; nil if none is left.
        static func next(of node: Node, _ mostPreemptions: Int?, first: Int?) -> Int? {
            let order = (first.map { [$0] } ?? []) + node.enabled
            return order.first { actor in
                guard node.sleeping[actor] == nil, !node.tried.contains(actor) else { return false }
                guard let mostPreemptions, node.isPreemption(actor) else { return true }
                return node.preemptions < mostPreemptions
            }
        }
    }

    private let stage: Stage
    private let mostPreemptions: Int?

    package init(_ stage: Stage, mostPreemptions: Int? = nil) {
        self.stage = stage
        self.mostPreemptions = mostPreemptions
    }

    /// Tries the schedules, up to the first that breaks a rule; `isComplete` is set once all were tried.
    package func explore(mostRuns: Int, while mayContinue: () -> Bool = { true }) throws -> Exploration {
        var exploration = Exploration(
            scenario: stage.scenario.name,
            programs: stage.actors.count,
            way: .exhaustive(mostPreemptions)
        )
        var nodes: [Node] = []
        while exploration.runs < mostRuns, mayContinue() {
            var walk = Walk(nodes, mostPreemptions: mostPreemptions)
            let run = try stage.run(&walk)
            nodes = walk.nodes
            exploration.add(run)
            if exploration.failure != nil { return exploration }
            while var node = nodes.popLast() {
                node.tried.append(node.choice)
                if let choice = Walk.next(of: node, mostPreemptions, first: nil) {
                    node.choice = choice
                    nodes.append(node)
                    break
                }
            }
            if nodes.isEmpty {
                exploration.isComplete = true
                return exploration
            }
        }
        return exploration
    }
}
