import FaultSupport
import Foundation
import SafeFiles

/// Concurrent migrators, of one store or of several stores to one path: one of them wins.
struct Races: Proof {
    let name = "races"
    let title = "four migrators at once: exactly one publishes, the others do nothing or say why"

    private static let racers = 4

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "races", gate: 500)
        var endings: [String: Int] = [:]
        let templates = try ["wal", "delete"].map { try HabitTemplate.make(journalMode: $0) }
        let others = try ["wal", "delete"].map { try HabitTemplate.makeOther(journalMode: $0) }
        for number in 0..<(scale.stopsAtFirst ? 24 : scale.count(500)) where !scale.deadline.hasPassed {
            let mode = number % 2
            let (outcomes, found) =
                try number % 4 < 2
                ? raceOverOneStore(templates[mode]) : raceToOnePlace([templates[mode], others[mode]])
            figure.tried += 1
            figure.violations += found.map { "race \(number): \($0)" }
            for outcome in outcomes { endings[outcome, default: 0] += 1 }
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        let counts = endings.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        figure.remarks = ["they ended with: " + counts.joined(separator: ", ")]
        return figure
    }

    private func raceOverOneStore(_ template: StoreTemplate) throws -> (outcomes: [String], objections: [String]) {
        let scratch = try Scratch()
        let judge = ShareJudge(template: template)
        try judge.prepare(scratch)
        let (racers, tooEarly) = try race(Array(repeating: judge.command(scratch), count: Self.racers), scratch)
        var objections = try tooEarly + judge.afterRerun(scratch, .exited(0))
        objections += racers.compactMap { $0.objection(among: [Racer.winning, Racer.waiting]) }
        let outcomes = racers.map(\.outcome)
        if outcomes.count(where: { $0 == "shared" }) != 1 { objections.append("they ended with \(outcomes)") }
        return (outcomes, objections)
    }

    /// Several stores that are shared to the same path.
    private func raceToOnePlace(_ templates: [StoreTemplate]) throws -> (outcomes: [String], objections: [String]) {
        let scratch = try Scratch()
        _ = try scratch.root.createDirectory("group", mode: 0o770)
        let stores = (0..<Self.racers).map { templates[$0 % templates.count] }
        for (number, template) in stores.enumerated() {
            try template.write(into: scratch.root.createDirectory("old\(number)", mode: 0o700))
        }
        let (racers, tooEarly) = try race(
            stores.enumerated()
                .map { number, template in
                    .tool([
                        "share", "\(scratch.path)/old\(number)/\(template.name)",
                        "\(scratch.path)/group/\(template.name)", "--level", "content",
                    ])
                },
            scratch
        )
        let winners = racers.indices.filter { racers[$0].ending == .exited(0) }
        let outcomes = racers.map(\.outcome)
        var objections = tooEarly
        objections += racers.compactMap { $0.objection(among: [Racer.winning, Racer.waiting, Racer.asking]) }
        // The loser of equal content finds that its content is shared already.
        guard let winner = winners.first(where: { racers[$0].outcome == "shared" }),
            winners.allSatisfy({ $0 % templates.count == winner % templates.count })
        else { return (outcomes, objections + ["they ended with \(outcomes)"]) }
        if outcomes.count(where: { $0 == "shared" }) != 1 { objections.append("they ended with \(outcomes)") }
        let judge = ShareJudge(template: stores[winner])
        let group = try scratch.root.openDirectory("group")
        let new = try judge.content(of: stores[winner].name, in: group, scratch, withoutFence: false)
        if new != stores[winner].content { objections.append("the shared store is not the winner's") }
        for (number, template) in stores.enumerated() {
            let folder = try scratch.root.openDirectory("old\(number)")
            let hasLost = racers[number].ending != .exited(0)
            let content = try judge.content(of: template.name, in: folder, scratch, withoutFence: !hasLost)
            if content != template.content {
                objections.append("a private store differs, or is fenced without a share")
            }
        }
        return (outcomes, objections)
    }

    private struct Racer {
        let ending: Command.Ending
        let outcome: String

        /// The winner publishes, and a racer with the same content has nothing to do.
        static let winning: [String: Int32] = ["shared": 0, "alreadyShared": 0]
        /// A racer that gives up waiting for the winner reports `busy`.
        static let waiting: [String: Int32] = ["busy": 11]
        /// A racer that finds another store's content changes neither store, and asks for a decision.
        static let asking: [String: Int32] = ["bothHoldObjects": 4]

        /// Nil for a racer with an allowed outcome and the exit status of that outcome.
        func objection(among allowed: [[String: Int32]]) -> String? {
            let status = allowed.lazy.compactMap { $0[outcome] }.first
            return status.map { ending == .exited($0) } == true ? nil : "one ended with \(ending), saying \(outcome)"
        }
    }

    private func race(_ commands: [Command], _ scratch: Scratch) throws -> (racers: [Racer], objections: [String]) {
        let commands = commands.map { command in
            var command = command
            command.arguments.append("--json")
            return command
        }
        let ended = try scratch.race(commands, deadline: Deadline(after: .seconds(300)))
        let racers = ended.map { racer in
            let outcome = racer.output.split(separator: "\n").lazy.reversed()
                .compactMap { line in
                    let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    return object?["outcome"] as? String
                }
                .first
            return Racer(ending: racer.ending, outcome: outcome ?? "nothing")
        }
        return (racers, ended.allSatisfy(\.hasStarted) ? [] : ["one ended before the others began"])
    }
}
