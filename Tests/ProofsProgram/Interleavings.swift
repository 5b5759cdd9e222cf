import CSQLite
import FaultSupport
import Foundation
import InterleavingExplorer
import SafeFiles

/// Shares beside writers, a reader and another share, and later commands beside writers to both places, under a scheduler that
/// decides at every file call and every lock.
///
/// Known mistakes calibrate the explorer: a migrator without a lock, a publication that checks first, locks in opposite orders,
/// and the WAL-reset bug of SQLite, which is in the library itself up to version 3.51.2.
struct Interleavings: Proof {
    let name = "interleavings"
    let title = "commands beside writers, readers and shares, as a scheduler interleaves their file calls and locks"

    private static let gate = 840
    /// The scenarios without the tool.
    static let calibrations = [
        "copy-without-lock-wal-2-2", "copy-with-lock-wal-2-2", "copy-without-lock-delete-1-1",
        "copy-with-lock-delete-1-1", "wal-reset", "publish-after-check", "publish-by-link", "locks-in-opposite-orders",
        "locks-in-order",
    ]

    private static let depths = [2, 3]
    /// The most schedules in which a known mistake must be found.
    private static let mostForMistake = 3000
    /// The most schedules in which the WAL-reset bug is searched for, with priorities and with random changes.
    private static let mostForReset = (priorities: 1000, changes: 6000)
    private static let runsOfControl = 100
    /// The schedules of each scenario and depth in which a mistake of the tool is searched for.
    private static let mostForSeeded = 100
    /// The first version of SQLite without the WAL-reset bug.
    private static let versionWithoutReset: Int32 = 3_051_003

    func run(_ scale: Scale) async throws -> Figure {
        if let file = scale.schedule { return try replay(file) }
        // A calibration alone tries no command.
        let names = try ShareScenario.names + SharedScenario.names
        let hasGate = !scale.stopsAtFirst && names.contains { $0.hasPrefix(scale.only) }
        var figure = Figure(unit: "schedules of commands", gate: hasGate ? Self.gate : 0)
        if !scale.stopsAtFirst { try calibrate(scale, &figure) }
        try exploreCommands(scale, &figure)
        if scale.isExhaustive { try searchShares(scale, &figure) }
        return figure
    }

    /// Tries every schedule of a share beside one writer in which one program is interrupted once.
    private func searchShares(_ scale: Scale, _ figure: inout Figure) throws {
        for scenario in try ShareScenario.small() where scenario.name.hasPrefix(scale.only) {
            let stage = try Stage(scenario)
            let exploration = try ExhaustiveSearch(stage, mostPreemptions: 1)
                .explore(mostRuns: .max) { !scale.deadline.hasPassed }
            figure.tried += exploration.runs
            try report(exploration, stage, scale, &figure, isViolation: true)
        }
    }

    /// Explores each scenario of the tool at each depth.
    private func exploreCommands(_ scale: Scale, _ figure: inout Figure) throws {
        let all: [any Scenario] = try ShareScenario.all() + SharedScenario.all()
        let scenarios = all.filter { $0.name.hasPrefix(scale.only) }
        let parts = scenarios.count * Self.depths.count
        for (number, scenario) in scenarios.enumerated() {
            let stage = try Stage(scenario)
            for (turn, depth) in Self.depths.enumerated() {
                // In a soak every part gets the same share of the time that is left, with two parts for the search.
                let left = parts - number * Self.depths.count - turn + 2
                let end = scale.isExhaustive ? Deadline(after: scale.deadline.remaining / left) : scale.deadline
                let exploration = try stage.explore(
                    .priorities(depth: depth),
                    runs: scale.stopsAtFirst ? Self.mostForSeeded : scale.count((Self.gate + parts - 1) / parts),
                    seed: seed(scale)
                ) { !end.hasPassed }
                figure.tried += exploration.runs
                try report(exploration, stage, scale, &figure, isViolation: true)
                if scale.stopsAtFirst, !figure.violations.isEmpty { return }
            }
        }
    }

    /// Shows that the explorer finds known mistakes, and accepts the same programs without them.
    private func calibrate(_ scale: Scale, _ figure: inout Figure) throws {
        for depth in Self.depths {
            for holdsLock in [false, true] {
                let scenario = try CopyScenario(holdsLock: holdsLock, journalMode: "wal")
                guard scenario.name.hasPrefix(scale.only) else { continue }
                let stage = try Stage(scenario)
                let runs = holdsLock ? Self.runsOfControl : Self.mostForMistake
                let exploration = try stage.explore(.priorities(depth: depth), runs: runs, seed: seed(scale))
                try expect(exploration, stage, isMistake: !holdsLock, scale, &figure)
            }
        }
        try searchForReset(scale, &figure)
        var searches: [(scenario: any Scenario, preemptions: Int?, isMistake: Bool)] = []
        for isMistake in [true, false] {
            let copy = try CopyScenario(holdsLock: !isMistake, journalMode: "delete", writers: 1, pairs: 1)
            searches += [
                (copy, 1, isMistake), (PublicationScenario(checksFirst: isMistake), nil, isMistake),
                (LockOrderScenario(isOrdered: !isMistake), nil, isMistake),
            ]
        }
        for search in searches where search.scenario.name.hasPrefix(scale.only) {
            let stage = try Stage(search.scenario)
            let exploration = try ExhaustiveSearch(stage, mostPreemptions: search.preemptions)
                .explore(mostRuns: Self.mostForMistake)
            try expect(exploration, stage, isMistake: search.isMistake, scale, &figure)
            if !search.isMistake, !exploration.isComplete {
                figure.violations.append("\(exploration.summary): not every schedule was tried")
            }
        }
    }

    /// Searches for a bug of SQLite itself, and reports a version that has the bug but did not show it.
    private func searchForReset(_ scale: Scale, _ figure: inout Figure) throws {
        let scenario = try WalResetScenario()
        guard scenario.name.hasPrefix(scale.only) else { return }
        let hasBug = sqlite3_libversion_number() < Self.versionWithoutReset
        var isFound = false
        let ways =
            Self.depths.map { (Way.priorities(depth: $0), Self.mostForReset.priorities) } + [
                (.switching(percent: 8), Self.mostForReset.changes)
            ]
        for (way, runs) in ways {
            let stage = try Stage(scenario)
            let exploration = try stage.explore(way, runs: runs, seed: seed(scale))
            isFound = isFound || exploration.failure != nil
            try report(exploration, stage, scale, &figure, isViolation: !hasBug)
        }
        if hasBug, !isFound { figure.remarks.append("the WAL-reset bug of this version of SQLite was not reached") }
    }

    private func seed(_ scale: Scale) -> UInt64 { UInt64(bitPattern: Int64(scale.seed)) }

    private func expect(
        _ exploration: Exploration,
        _ stage: Stage,
        isMistake: Bool,
        _ scale: Scale,
        _ figure: inout Figure
    ) throws {
        if isMistake, exploration.failure == nil {
            figure.violations.append("the known mistake \(exploration.scenario) was not found: \(exploration.summary)")
        }
        try report(exploration, stage, scale, &figure, isViolation: !isMistake)
    }

    /// Adds the figures; a schedule that breaks a rule is shrunk, replayed and written to a file.
    private func report(
        _ exploration: Exploration,
        _ stage: Stage,
        _ scale: Scale,
        _ figure: inout Figure,
        isViolation: Bool
    ) throws {
        figure.remarks.append(exploration.summary)
        Page.say(exploration.summary)
        if exploration.races > 0 {
            figure.remarks.append("\(exploration.scenario): \(exploration.races) points of other threads")
        }
        guard let failure = exploration.failure else { return }
        let (shrunk, tries) = try ScheduleShrinker(stage).shrink(failure)
        let schedule = Schedule(shrunk, of: stage.scenario)
        let difference = try schedule.replay(on: stage).difference
        let shrinking = "\(failure.switches) changes of programs shrunk to \(shrunk.switches) in \(tries) tries"
        let replay = difference.map { "differs: \($0)" } ?? "equal"
        Page.say("  \(shrinking); replay \(replay): \(shrunk.violations[0])")
        figure.remarks.append("\(exploration.scenario): \(shrinking)")
        if let difference { figure.violations.append("\(exploration.scenario): a replay differs: \(difference)") }
        guard isViolation else { return }
        let file = try write(schedule, shrunk, of: exploration, seed: scale.seed)
        let rules = shrunk.violations.joined(separator: "; ")
        figure.violations.append("\(exploration.scenario): \(rules); proofs interleavings --schedule \(file)")
    }

    /// Writes a schedule for `--schedule`.
    private func write(_ schedule: Schedule, _ run: Run, of exploration: Exploration, seed: Int) throws -> String {
        let folder = FileManager.default.currentDirectoryPath + "/.build/interleavings"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let way = exploration.way.name
        let file = "\(folder)/\(exploration.scenario)-\(way)-\(seed)-\(exploration.failingNumber)"
        try schedule.text(violations: run.violations).write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    /// Repeats one schedule, and prints its steps.
    private func replay(_ file: String) throws -> Figure {
        let schedule = try Schedule(String(contentsOfFile: file, encoding: .utf8))
        var scenarios: [any Scenario] = try ShareScenario.all() + ShareScenario.small() + SharedScenario.all()
        scenarios.append(try WalResetScenario())
        for isMistake in [true, false] {
            scenarios.append(try CopyScenario(holdsLock: !isMistake, journalMode: "wal"))
            scenarios.append(try CopyScenario(holdsLock: !isMistake, journalMode: "delete", writers: 1, pairs: 1))
            scenarios.append(PublicationScenario(checksFirst: isMistake))
            scenarios.append(LockOrderScenario(isOrdered: !isMistake))
        }
        guard let scenario = scenarios.first(where: { $0.name == schedule.scenario }) else {
            throw Stage.Failure("no scenario is called \(schedule.scenario)")
        }
        let (run, difference) = try schedule.replay(on: Stage(scenario))
        for line in run.record { Page.say(line) }
        var figure = Figure(tried: 1, unit: "schedules", gate: 1)
        figure.violations = run.violations
        if let difference {
            figure.violations.append("the run differs from the file: \(difference)")
        } else {
            figure.remarks.append("the run equals the file")
        }
        return figure
    }
}
