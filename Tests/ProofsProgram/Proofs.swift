import ArgumentParser
import SafeFiles

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
    var seed = 1

    @Flag(help: "A few are enough, and the first broken promise ends it: for the tool that makes mistakes.")
    var first = false

    @Option(help: "Only the commands whose names contain this.")
    var only = ""

    private static let all: [any Proof] = [
        SingleFaults(), RandomKills(), DoubleFaults(), CrashStates(), LostSynchronizations(), Races(), LiveWriters(),
        Swaps(), Neighbours(), MergeTriples(), SeededBugs(),
    ]

    func run() async throws {
        let unknown = names.filter { name in !Self.all.contains { $0.name == name } }
        guard unknown.isEmpty else {
            throw ValidationError(
                "no harness is called \(unknown.joined(separator: ", ")); there are: "
                    + Self.all.map(\.name).joined(separator: ", ")
            )
        }
        let minutes = soak ? hours * 60 : 60
        let scale = Scale(
            isExhaustive: soak,
            seed: seed,
            deadline: Deadline(after: .seconds(minutes * 60)),
            stopsAtFirst: first,
            only: only
        )
        var page = Page(seed: seed)
        for proof in Self.all where names.isEmpty || names.contains(proof.name) {
            let start = ContinuousClock.now
            let figure = try await proof.run(scale)
            page.add(proof.title, figure, took: ContinuousClock.now - start)
            Page.say("\(proof.name): \(figure.tried) \(figure.unit), \(figure.violations.count) violations")
        }
        print(page.text)
        guard first ? page.violations.isEmpty : page.isReached else { throw ExitCode.failure }
    }
}
