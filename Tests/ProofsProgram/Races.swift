import FaultSupport
import Foundation
import SafeFiles

/// Migrators that start at the same time, over one store or from several stores to one place: one of them wins.
struct Races: Proof {
    let name = "races"
    let title = "four migrators at once: exactly one publishes, the others do nothing or say why"

    private static let racers = 4

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "races", gate: 500)
        let templates = try ["wal", "delete"].map { try HabitTemplate.make(journalMode: $0) }
        let others = try ["wal", "delete"].map { try HabitTemplate.makeOther(journalMode: $0) }
        for number in 0..<(scale.stopsAtFirst ? 24 : scale.count(500)) where !scale.deadline.hasPassed {
            let mode = number % 2
            let found =
                try number % 4 < 2
                ? raceOverOneStore(templates[mode]) : raceToOnePlace([templates[mode], others[mode]])
            figure.tried += 1
            figure.violations += found.map { "race \(number): \($0)" }
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        return figure
    }

    private func raceOverOneStore(_ template: StoreTemplate) throws -> [String] {
        let scratch = try Scratch()
        let judge = ShareJudge(template: template)
        try judge.prepare(scratch)
        let racers = try race(Array(repeating: judge.command(scratch), count: Self.racers), scratch)
        var objections = try judge.afterRerun(scratch, .exited(0))
        let outcomes = racers.map(\.outcome)
        if outcomes.count(where: { $0 == "shared" }) != 1 { objections.append("they ended with \(outcomes)") }
        if !Set(outcomes).isSubset(of: ["shared", "alreadyShared", "busy"]) { objections.append("\(outcomes)") }
        return objections
    }

    /// Several stores of which each wants the same place.
    private func raceToOnePlace(_ templates: [StoreTemplate]) throws -> [String] {
        let scratch = try Scratch()
        _ = try scratch.root.createDirectory("group", mode: 0o770)
        let stores = (0..<Self.racers).map { templates[$0 % templates.count] }
        for (number, template) in stores.enumerated() {
            try template.write(into: scratch.root.createDirectory("old\(number)", mode: 0o700))
        }
        let racers = try race(
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
        // The loser of equal content finds that its content is shared already.
        guard let winner = winners.first(where: { racers[$0].outcome == "shared" }),
            winners.allSatisfy({ $0 % templates.count == winner % templates.count })
        else { return ["they ended with \(racers.map(\.outcome))"] }
        var objections: [String] = []
        if racers.count(where: { $0.outcome == "shared" }) != 1 {
            objections.append("they ended with \(racers.map(\.outcome))")
        }
        let judge = ShareJudge(template: stores[winner])
        let group = try scratch.root.openDirectory("group")
        let new = try judge.content(of: stores[winner].name, in: group, scratch, withoutFence: false)
        if new != stores[winner].content { objections.append("the shared store is not the winner's") }
        for (number, template) in stores.enumerated() {
            let folder = try scratch.root.openDirectory("old\(number)")
            let hasLost = racers[number].ending != .exited(0)
            let content = try judge.content(of: template.name, in: folder, scratch, withoutFence: !hasLost)
            if content != template.content { objections.append("a private store differs or is fenced in vain") }
        }
        return objections
    }

    private struct Racer {
        let ending: Command.Ending
        let outcome: String
    }

    private func race(_ commands: [Command], _ scratch: Scratch) throws -> [Racer] {
        var processes: [(process: pid_t, output: String)] = []
        for (number, command) in commands.enumerated() {
            var command = command
            command.arguments.append("--json")
            command.environment["TMPDIR"] = scratch.path + "/tmp"
            let output = "\(scratch.privatePath)/racer-\(number)"
            processes.append((try command.start(output: output), output))
        }
        let deadline = Deadline(after: .seconds(300))
        return try processes.map { process, output in
            let ending = Command.ending(of: process, killingAfter: deadline)
            let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
            let outcome = lines.lazy.reversed()
                .compactMap { line in
                    let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    return object?["outcome"] as? String
                }
                .first
            return Racer(ending: ending, outcome: outcome ?? "\(ending)")
        }
    }
}
