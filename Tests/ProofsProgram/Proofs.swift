import ArgumentParser
import FaultSupport
import Foundation
import SafeFiles
import TestSupport

/// Tries every promise at its gate, and prints one page of figures.
@main
struct Proofs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proofs",
        abstract: "Holds the tool to its promises: faults, crashes, races, neighbours, and how many of each were tried."
    )

    @Argument(help: "The harnesses to run; all of them if none is named.")
    var names: [String] = []

    @Flag(help: "Try everything there is to try, for as long as --hours says.")
    var soak = false

    @Option(help: "How long a soak may go on.")
    var hours = 4.0

    @Option(help: "Which samples are taken, and in which order things happen.")
    var seed = Seed.forFaults

    @Flag(help: "A few are enough, and the first broken promise ends it: for the tool that makes mistakes.")
    var first = false

    @Option(help: "Only the commands and known histories whose names begin with this.")
    var only = ""

    @Option(help: "Work on a fresh file system of this kind (ext4, xfs or btrfs), mounted for this; root only.")
    var on: BlockFileSystem?

    @Option(help: "Work in this folder; by default in memory.")
    var place: String?

    @Option(help: "How many walks the harness lives takes.")
    var walks: Int?

    @Option(help: "The part of the commands of a walk that is killed, from 0 to 1.")
    var kills = 0.3

    @Option(help: "The part of the commands of a walk beside which an app writes, from 0 to 1.")
    var live = 0.3

    @Option(help: "The shapes of the stores that walks are taken over, with commas between them; all by default.")
    var shapes: String?

    @Option(help: .private)
    var journalMode: String?

    /// Where the figures go for the process that started this one.
    @Option(help: .private)
    var report: String?

    /// True for the process that has a machine of its own.
    @Flag(help: .private)
    var inside = false

    private static let all: [any Proof] = [
        SingleFaults(), RandomKills(), DoubleFaults(), CrashStates(), LostSynchronizations(), Races(), LiveWriters(),
        Swaps(), Neighbours(), MergeTriples(), Lives(), SeededBugs(), BlockStates(), FileSystems(),
    ]
    /// They need what not every machine grants: part of a soak, and where somebody asks for them.
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
        // What tries nothing breaks no promise.
        let known = Commands.names + KnownHistory.all.map(\.name)
        guard known.contains(where: { $0.hasPrefix(only) }) else {
            throw ValidationError(
                "no command's and no known history's name begins with '\(only)'; they begin: "
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
        scale.kills = kills
        scale.live = live
        scale.shapes = shapes?.split(separator: ",").map(String.init)
        if let journalMode { scale.journalModes = [journalMode] }
        let end = scale.deadline
        var page = Page(seed: seed)
        var figures: [Figure] = []
        for (number, proof) in chosen.enumerated() {
            let start = ContinuousClock.now
            // Most go on for as long as they may, so that each has its share of the time.
            if soak { scale.deadline = Deadline(after: end.remaining / (chosen.count - number)) }
            let figure: Figure
            do { figure = try await proof.run(scale) } catch {
                // What the others did and found is not lost with it.
                figure = Figure(unit: "", gate: 1, violations: ["\(error)"])
            }
            figures.append(figure)
            page.add(proof.title, figure, took: ContinuousClock.now - start)
            let counts = figure.counts.map { "\($0.tried) \($0.unit)" }.joined(separator: ", ")
            Page.say("\(proof.name): \(counts), \(figure.violations.count) violations")
        }
        if let report {
            try JSONEncoder().encode(figures).write(to: URL(fileURLWithPath: report))
        } else {
            print(page.text)
        }
        guard first ? page.violations.isEmpty : page.isReached else { throw ExitCode.failure }
    }

    /// Goes where the caller wants it.
    private func settle() throws {
        if let place { setenv(Scratch.placeVariable, place, 1) }
        guard let on else { return }
        if let obstacle = on.obstacle ?? PrivateMachine.obstacle { throw ValidationError("--on \(on): \(obstacle)") }
        guard inside else { return try PrivateMachine.enter(CommandLine.arguments.dropFirst() + ["--inside"]) }
        try PrivateMachine.settle(on: on)
    }
}

extension BlockFileSystem: ExpressibleByArgument {}
