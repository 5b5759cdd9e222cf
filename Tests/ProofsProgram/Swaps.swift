import FaultSupport

/// Every call that takes a name, while a thread exchanges the name with a link to the outside.
struct Swaps: Proof {
    let name = "swaps"
    let title = "names exchanged with links to the outside, during every call that takes a name"

    private static let gate = 20_000
    private static let soakGate = 1_000_000

    func run(_ scale: Scale) async throws -> Figure {
        let count = scale.isExhaustive ? Self.soakGate : scale.stopsAtFirst ? 500 : Self.gate
        var figure = Figure(unit: "swaps", gate: count * SwapRace.all.count)
        var (calls, refused, fewest) = (0, 0, (calls: Int.max, race: ""))
        for race in SwapRace.all {
            let outcome = try race.run(swaps: count, deadline: scale.deadline)
            figure.tried += outcome.swaps
            calls += outcome.calls
            refused += outcome.refused
            if outcome.calls < fewest.calls { fewest = (outcome.calls, race.description) }
            if outcome.escapes > 0 { figure.violations.append("\(race): \(outcome.escapes) escapes") }
            figure.violations += race.objections(to: outcome, swaps: count).map { "\(race): \($0)" }
        }
        figure.remarks = [
            "\(SwapRace.all.count) kinds of calls, \(calls) calls, \(refused) of them refused;"
                + " fewest, \(fewest.calls), to \(fewest.race)"
        ]
        return figure
    }
}
