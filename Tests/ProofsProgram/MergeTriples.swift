import FaultSupport
import Foundation
import SafeFiles

/// Merges random divergent stores, and compares the result with an independent merge in memory.
struct MergeTriples: Proof {
    let name = "merge-triples"
    let title = "random bases with two sides, merged as an independent merge in memory says"

    private static let suite = "StoreMergePropertyTests"
    /// The prefix of the suite's line for each case.
    private static let prefix = "triples merged: "
    private static let gate = 10_000

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "triples", gate: Self.gate)
        var environment = ProcessInfo.processInfo.environment
        if scale.isExhaustive { environment["STORE_MERGE_ARCHIPELAGOS"] = "25000" }
        let place = try TemporaryDirectory(prefix: "merge-triples")
        let output = place.directory.path + "/output"
        let ending = try Command.tests(of: Self.suite, environment: environment)
            .run(output: output, deadline: scale.deadline)
        let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
        for line in lines where line.hasPrefix(Self.prefix) {
            figure.tried += line.dropFirst(Self.prefix.count).prefix { $0.isNumber }
                .reduce(0) { sum, digit in
                    sum * 10 + (digit.wholeNumberValue ?? 0)
                }
        }
        if ending != .exited(0) {
            figure.violations = lines.filter { $0.contains("recorded an issue") }.map(String.init)
            figure.violations.append("\(Self.suite) ended with \(ending)")
        }
        return figure
    }
}
