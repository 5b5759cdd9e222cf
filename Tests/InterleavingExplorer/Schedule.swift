import Foundation

/// A run written down: the scenario, each step, and what the programs printed.
///
/// The file repeats the run bit for bit: a replay compares every step, every line of output and every ending.
package struct Schedule: Equatable, Sendable {
    /// A file that is not a schedule.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private static let title = "interleaving schedule 1"

    package let scenario: String
    /// The choices, in order.
    package let choices: [Int]
    /// The steps, output and endings; see ``Run/record``.
    package let record: [String]

    package init(_ run: Run, of scenario: any Scenario) {
        self.scenario = scenario.name
        choices = run.steps.map(\.actor)
        record = run.record
    }

    /// Reads a file that ``text`` wrote.
    package init(_ text: String) throws {
        let lines = text.split(separator: "\n").map(String.init)
        guard lines.count >= 2, lines[0] == Self.title, lines[1].hasPrefix("scenario\t") else {
            throw Failure(description: "the file does not begin with \"\(Self.title)\" and a scenario")
        }
        scenario = String(lines[1].dropFirst("scenario\t".count))
        record = lines.dropFirst(2).filter { !$0.hasPrefix("#") }
        choices = record.compactMap { line in line.split(separator: "\t").first.flatMap { Int($0) } }
    }

    /// The text of the file; the violations are comments.
    package func text(violations: [String]) -> String {
        ([Self.title, "scenario\t\(scenario)"] + violations.map { "# \($0)" } + record).joined(separator: "\n") + "\n"
    }

    /// Runs the schedule again, and returns the run and the first difference.
    package func replay(on stage: Stage) throws -> (run: Run, difference: String?) {
        var strategy = ListedStrategy(choices)
        let run = try stage.run(&strategy)
        let now = run.record
        let pair = zip(now, record).first { $0 != $1 }
        if let pair { return (run, "expected: \(pair.1); found: \(pair.0)") }
        return (run, now.count == record.count ? nil : "expected \(record.count) lines, found \(now.count)")
    }
}
