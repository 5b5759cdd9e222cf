import ArgumentParser
import FaultSupport
import Foundation
import InterleavingExplorer
import SafeFiles
import TestSupport

/// Tries every guarantee at its gate, and prints one page of figures.
@main
struct Proofs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proofs",
        abstract: "Tests the tool's guarantees under faults, crashes, races and hostile neighbours, and prints figures."
    )

    @Argument(help: "The harnesses to run; all of them if none is named.")
    var names: [String] = []

    @Flag(help: "Try all points and states, for as long as --hours says.")
    var soak = false

    @Option(help: "How long a soak may take.")
    var hours = 4.0

    @Option(help: "The seed of samples and orders.")
    var seed = Seed.forFaults

    @Flag(help: "Try a few, and stop at the first violation: for known mistakes.")
    var first = false

    @Option(help: "Only the commands, known histories and known mistakes whose names begin with this.")
    var only = ""

    @Option(help: "Work on a fresh file system of this kind (ext4, xfs or btrfs), mounted for the run; root only.")
    var on: BlockFileSystem?

    @Option(help: "Work in this folder; by default in memory.")
    var place: String?

    @Option(help: "How many walks the harness lives takes.")
    var walks: Int?

    @Option(help: "Only the walk with this number, which a violation names, and print its commands; may be repeated.")
    var walk: [UInt64] = []

    @Option(help: "The fraction of a walk's commands that is killed, from 0 to 1.")
    var kills = 0.3

    @Option(help: "The fraction of a walk's commands whose file calls fail, from 0 to 1.")
    var failures = 0.1

    @Option(help: "The fraction of a walk's commands during which an app writes, from 0 to 1.")
    var live = 0.3

    @Option(help: "The shapes of the walks' stores, separated by commas; all by default.")
    var shapes: String?

    @Option(help: "The file with a schedule that the harness interleavings repeats, step by step.")
    var schedule: String?

    @Option(help: .private)
    var journalMode: String?

    /// The file for the figures, which the parent process reads.
    @Option(help: .private)
    var report: String?

    /// True for the process in its own namespaces.
    @Flag(help: .private)
    var inside = false

    private static let all: [any Proof] = [
        Lives(), Model(), SingleFaults(), RandomKills(), DoubleFaults(), CrashStates(), LostSynchronizations(), Races(),
        Interleavings(), LiveWriters(), Swaps(), Neighbours(), MergeTriples(), SeededBugs(), BlockStates(),
        FileSystems(),
    ]
    /// Harnesses that need root: they run in a soak, and when they are named.
    private static let demanding = [BlockStates().name, FileSystems().name]

    private var chosen: [any Proof] {
        Self.all.filter { names.isEmpty ? soak || !Self.demanding.contains($0.name) : names.contains($0.name) }
    }

    func validate() throws {
        let unknown = names.filter { name in !Self.all.contains { $0.name == name } }
        guard unknown.isEmpty else {
            throw ValidationError(
                "no harness is called \(unknown.joined(separator: ", ")); there are: "
                    + Self.all.map(\.name).joined(separator: ", ")
            )
        }
        // A selection without commands would report success.
        let known =
            try Commands.names + KnownHistory.all.map(\.name) + SeededMistake.all().map(\.name)
            + ShareScenario.names + SharedScenario.names + Interleavings.calibrations
        guard known.contains(where: { $0.hasPrefix(only) }) else {
            throw ValidationError(
                "no command, known history or known mistake has a name that begins with '\(only)'; they begin: "
                    + known.map { "'\($0)'" }.joined(separator: ", ")
            )
        }
    }

    func run() async throws {
        try settle()
        let minutes = soak || report != nil ? hours * 60 : 120
        var scale = Scale(
            isExhaustive: soak,
            seed: seed,
            deadline: Deadline(after: .seconds(minutes * 60)),
            stopsAtFirst: first,
            only: only
        )
        scale.fileSystem = on
        scale.walks = walks
        scale.walk = walk
        scale.kills = kills
        scale.failures = failures
        scale.live = live
        scale.schedule = schedule
        scale.shapes = shapes?.split(separator: ",").map(String.init)
        if let journalMode { scale.journalModes = [journalMode] }
        let end = scale.deadline
        var page = Page(seed: seed)
        var figures: [Figure] = []
        for (number, proof) in chosen.enumerated() {
            let start = ContinuousClock.now
            // The other harnesses use all their time, so each gets a share.
            let share = Deadline(after: end.remaining / (chosen.count - number))
            if soak { scale.deadline = proof.isCounted ? end : share }
            let figure: Figure
            do { figure = try await proof.run(scale) } catch {
                // The figures of the other harnesses are kept.
                figure = Figure(unit: "", gate: 1, violations: ["\(error)"])
            }
            figures.append(figure)
            page.add(proof.title, figure, took: ContinuousClock.now - start)
            let counts = figure.counts.map { "\($0.tried) \($0.unit)" }.joined(separator: ", ")
            Page.say("\(proof.name): \(counts), \(figure.violations.count) violations")
        }
        let traces = RecordedTraces.summary
        if traces.accepted + traces.refused > 0 {
            Page.say(
                "journals replayed against the model: \(traces.accepted) traces accepted, \(traces.refused) refused,"
                    + " \(traces.undecided) not decided,"
                    + " \(traces.distinct) distinct"
            )
        }
        if let report {
            try JSONEncoder().encode(figures).write(to: URL(fileURLWithPath: report))
        } else {
            print(page.text)
        }
        guard first ? page.violations.isEmpty : page.isReached else { throw ExitCode.failure }
    }

    /// Moves to the requested file system or folder.
    private func settle() throws {
        if let place { setenv(Scratch.placeVariable, place, 1) }
        guard let on else { return }
        if let obstacle = on.obstacle ?? PrivateMachine.obstacle { throw ValidationError("--on \(on): \(obstacle)") }
        guard inside else { return try PrivateMachine.enter(CommandLine.arguments.dropFirst() + ["--inside"]) }
        try PrivateMachine.settle(on: on)
    }
}

extension BlockFileSystem: ExpressibleByArgument {}
