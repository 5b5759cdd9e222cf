import FaultSupport
import Foundation
import Glibc
import SafeFiles
import Synchronization
import TestSupport

/// Random sequences of commands and app writes over three stores, checked against a model of the expected rows.
struct Lives: Proof {
    let name = "lives"
    let title = "whole lives: random commands and app writes at three stores, no row lost, doubled or stranded"

    let isCounted = true

    private static let gate = 2000
    private static let soakGate = 10_000
    private static let brief = 100

    private struct Tally {
        var walks = 0
        var commands = 0
        var live = 0
        var violations: [(seed: UInt64, text: String)] = []
        var endings: [String: Int] = [:]
        var kinds: [String: Int] = [:]

        var remarks: [String] {
            let killed = endings.filter { $0.key.hasSuffix("signal \(SIGKILL)") }.values.reduce(0, +)
            let failing = endings.filter { $0.key.contains("(failing)") }.values.reduce(0, +)
            let classes = Lives.classes.map { name, rules in
                "\(name): \(kinds.filter { rules.contains(String($0.key.prefix { $0 != " " })) }.values.reduce(0, +))"
            }
            return [
                "\(commands) commands, \(killed) killed, \(failing) with failing file calls, \(live) beside a live writer",
                classes.joined(separator: ", "),
            ]
        }
    }

    /// The classes of violations in the figures, and their rules.
    private static let classes = [
        ("rows lost", ["L1", "L2"]), ("doubled", ["L3"]), ("stranded or promised wrongly", ["L4", "L5"]),
        ("changed", ["bytes", "app"]), ("endless commands", ["L7"]), ("wrong or unexplained statuses", ["status"]),
    ]

    func run(_ scale: Scale) async throws -> Figure {
        let gate = scale.isExhaustive ? Self.soakGate : Self.gate
        let seeds = Self.seeds(scale, gate)
        let tally = Mutex(Tally())
        let start = ContinuousClock.now
        var options = Walk.Options()
        options.kills = scale.kills
        options.failures = scale.failures
        options.live = scale.live
        if let shapes = scale.shapes { options.shapes = shapes.compactMap(StoreShape.init(rawValue:)) }
        let goesOn = { @Sendable in !scale.stopsAtFirst || tally.withLock { $0.violations.isEmpty } }
        Work.forEach(seeds, until: scale.deadline, while: goesOn) { [options] seed in
            do {
                let result = try Walk.random(seed: seed, options)
                if !scale.walk.isEmpty { Page.say(result.shell.joined(separator: "\n")) }
                // Only the first sequence of each kind is shrunk.
                let isNew = tally.withLock { tally in
                    result.violations.first.map { violation in
                        tally.kinds[violation.kind, default: 0] += 1
                        return tally.kinds[violation.kind] == 1
                    }
                }
                let text = try Self.text(of: result, seed: seed, isShrunk: isNew == true && !scale.stopsAtFirst)
                tally.withLock { tally in
                    tally.walks += 1
                    tally.commands += result.commands
                    tally.live += result.commandsBesideWriters
                    tally.endings.merge(result.endings, uniquingKeysWith: +)
                    if let text { tally.violations.append((seed, text)) }
                }
                if let text { Page.say(text) }
            } catch {
                tally.withLock { $0.violations.append((seed, "walk \(seed): the model stumbled: \(error)")) }
            }
        }
        let histories = try Self.histories(scale)
        let end = tally.withLock { $0 }
        var figure = Figure(unit: "walks", gate: min(seeds.count, gate))
        figure.tried = end.walks
        figure.others = [histories.count]
        figure.violations = histories.violations
        figure.violations += end.violations.sorted { $0.seed < $1.seed }.map(\.text)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        figure.remarks += end.remarks
        figure.remarks.append(
            "\(Int(Double(end.walks) / seconds * 60)) walks a minute: "
                + end.endings.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        )
        return figure
    }

    private static func seeds(_ scale: Scale, _ gate: Int) -> [UInt64] {
        guard scale.walk.isEmpty else { return scale.walk }
        let count = scale.walks ?? (scale.stopsAtFirst ? brief : gate)
        let first = UInt64(bitPattern: Int64(scale.seed)) &* 1_000_003
        return (0..<UInt64(clamping: count)).map { first &+ $0 }
    }

    /// Runs the sequences that once failed.
    private static func histories(_ scale: Scale) throws -> (count: Count, violations: [String]) {
        let violations = Mutex<[String]>([])
        let tried = Mutex(0)
        let histories = KnownHistory.all.filter { $0.name.hasPrefix(scale.only) }
        Work.forEach(histories, until: scale.deadline) { history in
            let text: String?
            do {
                let result = try Walk.replay(history.steps, in: history.setting)
                text = result.violations.first.map { violation in
                    "\(history.name): \(violation.rule): \(violation.text)\n"
                        + result.shell.map { "        \($0)" }.joined(separator: "\n")
                }
            } catch { text = "\(history.name): the model stumbled: \(error)" }
            tried.withLock { $0 += 1 }
            guard let text else { return }
            Page.say(text)
            violations.withLock { $0.append(text) }
        }
        let count = Count(tried: tried.withLock { $0 }, unit: "known histories", gate: histories.count)
        return (count, violations.withLock { $0.sorted() })
    }

    /// The broken rule, and the shortest sequence that breaks it again; nil when no rule was broken.
    private static func text(of result: Walk.Result, seed: UInt64, isShrunk: Bool) throws -> String? {
        guard let first = result.violations.first else { return nil }
        let title = "walk \(seed), \(result.setting.shape), \(result.setting.journalMode): "
        guard isShrunk else { return title + "\(first.rule): \(first.text)" }
        let shrunk = try WalkShrinker.shrunk(result, until: Deadline(after: .seconds(90)))
        let broken = shrunk.violations.first ?? first
        return title + "\(broken.rule): \(broken.text)\n"
            + shrunk.shell.map { "        \($0)" }.joined(separator: "\n")
            + (WalkScenario.text(of: shrunk).map { "\n        # as a scenario:\n" + $0 } ?? "")
    }
}
