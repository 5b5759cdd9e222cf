import FaultSupport
import ProtocolModel
import SafeFiles

/// Every state of a model of the protocol, and the journals of real commands replayed against it.
struct Model: Proof {
    let name = "model"
    let title = "a model of the protocol: every state of 3 processes, 2 crashes and a power cut; real journals replayed"
    let isCounted = true

    /// The faults of each command whose journals are replayed here; every other harness replays its own.
    private static let faults = 7

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "states of the model", gate: 500_000)
        var transitions = Count(unit: "transitions", gate: 1_000_000)
        for scope in CheckedScope.whole + (scale.isExhaustive ? CheckedScope.large : []) {
            let result = scope.check()
            Page.say("\(scope): \(result.states) states, \(result.transitions) transitions")
            figure.tried += result.states
            transitions.tried += result.transitions
            figure.violations += result.violations.map { "\(scope): \($0)" }
            let waits =
                result.mutualWaits == 0 ? "" : ", \(result.mutualWaits) states in which all wait until a deadline"
            figure.remarks.append("\(scope): \(result.states) states, \(result.transitions) transitions\(waits)")
        }
        let unseen = KnownMistake.allCases.filter { $0.witness.check($0, stopsAtFirst: true).violations.isEmpty }
        figure.violations += unseen.map { "the known mistake \($0) was not found" }
        figure.remarks.append("\(KnownMistake.allCases.count - unseen.count) known mistakes were found")
        for flaw in OpenFlaw.allCases {
            let isFound = flaw.check().violations.contains { $0.rule.contains(flaw.witness.rule) }
            figure.remarks.append(
                "open flaw of the tool, treated as corrected: \(flaw)\(isFound ? "" : ", not found any more")"
            )
        }
        let before = RecordedTraces.summary
        for judge in try Commands.all(scale.only) where !scale.deadline.hasPassed {
            let summary = try FaultSweep(judge, seed: scale.seed).runSample(of: Self.faults)
            figure.violations += summary.violations.map { "\(judge.name): \($0)" }
            Page.say("\(judge.name): \(RecordedTraces.summary.accepted) traces accepted so far")
            for violation in summary.violations { Page.say(violation.description) }
        }
        let after = RecordedTraces.summary
        let traces = Count(tried: after.accepted - before.accepted, unit: "traces accepted", gate: 200)
        figure.others = [transitions, traces]
        figure.remarks.append(
            "\(after.distinct - before.distinct) of the traces are distinct, \(after.undecided - before.undecided) not decided"
        )
        return figure
    }
}
