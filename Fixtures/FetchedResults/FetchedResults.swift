import ArgumentParser
import Foundation
import ManagedObjects

/// Two contexts and their fetched results controllers, to try what a save of one shows in the other.
@main
struct FetchedResults: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "FetchedResults",
        abstract: "Shows what a controller sees of another context's saves: by hand, or the whole investigation."
    )

    @Flag(help: "Print the investigation with ten objects as a table.")
    var table = false

    @Option(parsing: .upToNextOption, help: "Print the costs of the remedies for these numbers of objects.")
    var costs: [Int] = []

    func run() throws {
        if table {
            print(Finding.row(Finding.columns))
            print(Finding.row(Finding.columns.map { _ in "---" }))
            for finding in try Findings.all() { print(Finding.row(finding.cells)) }
        }
        if !costs.isEmpty { try printCosts() }
        guard !table, costs.isEmpty else { return }
        var bench = try Bench()
        print(Bench.help)
        bench.show()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            if words.first == "quit" { return }
            do { try bench.carryOut(words) } catch { print("error: \(error)") }
            bench.show()
        }
    }

    private func printCosts() throws {
        let columns = [
            "objects", "", "processing", "shown of", "events", "reports", "faults fired", "rows read", "CPU ms",
        ]
        print(Finding.row(columns))
        print(Finding.row(columns.map { _ in "---" }))
        for count in costs {
            for cost in try Findings.costs(count) {
                let events = cost.events.reduce(0, +)
                let milliseconds = String(format: "%.1f", cost.time / .milliseconds(1))
                let numbers = [events, cost.reports, cost.faults, cost.rowsRead].map(String.init)
                let name = cost.letter == "–" ? "`.complete`" : cost.steps
                let cells = ["\(count)", cost.letter, name, "\(cost.shown) of \(cost.wanted)"]
                print(Finding.row(cells + numbers + [milliseconds]))
            }
        }
    }
}
