package import StoreFixtures
package import StoreFormat

/// A run of the tool: its words, the events during it, and how it must end.
package struct VerbCall: Sendable {
    /// An injected error of a system call.
    package struct Fault: Sendable {
        package let call: String
        /// As `strace` takes it: `2`, `2+`, or nothing for every call.
        package let when: String?
        package let error: String
    }

    /// Steps that run while the tool is stopped.
    package struct Pause: Sendable {
        package let moment: RunMoment
        package let steps: [ScenarioStep]
        package let position: RecipePosition
    }

    /// Where the run is killed.
    package enum Death: Sendable {
        case at(RunMoment)
        case before(call: String, nth: Int64)
    }

    /// The words of the command line, names of stores and placeholders in them.
    package let words: [String]
    package var pauses: [Pause] = []
    package var death: Death?
    package var interruption: RunMoment?
    package var faults: [Fault] = []
    package var ending = RunEnding()
    package var runsAsNobody = false
    package var environment: [(name: String, value: String)] = []
    package var deadline: Duration?

    package init(words: [String]) { self.words = words }

    /// The trigger points at which something happens.
    package var moments: Set<RunMoment> {
        var result = Set(pauses.map(\.moment))
        if case .at(let moment) = death { result.insert(moment) }
        if let interruption { result.insert(interruption) }
        return result
    }

    /// True when system calls are tampered with.
    package var needsTracing: Bool {
        if case .before = death { return true }
        return !faults.isEmpty
    }
}
