import FaultSupport
import Foundation
import SafeFiles

/// Harnesses that another process runs in private namespaces, on a separate file system.
struct SeparateProofs {
    let fileSystem: BlockFileSystem
    let names: [String]
    /// Arguments for that process in addition to the scale.
    var arguments: [String] = []

    /// The time to finish after their deadline.
    private static let grace = Duration.seconds(900)

    /// Runs them, and reads their figures.
    func run(_ scale: Scale) throws -> [Figure] {
        let place = try TemporaryDirectory(prefix: "separate-proofs")
        let (report, output) = (place.directory.path + "/report", place.directory.path + "/output")
        let hours = scale.deadline.remaining / .seconds(3600)
        let command = PrivateMachine.followed(
            names + ["--on", fileSystem.rawValue, "--seed", "\(scale.seed)", "--hours", "\(hours)"]
                + ["--report", report] + (scale.only.isEmpty ? [] : ["--only", scale.only])
                + (scale.isExhaustive ? ["--soak"] : [])
                + (scale.stopsAtFirst ? ["--first"] : []) + arguments
        )
        let deadline = Deadline(after: scale.deadline.remaining + Self.grace)
        let ending = try command.run(output: output, deadline: deadline)
        let words = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        Page.say(words.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: report)) else {
            var figure = Figure(unit: "", gate: 0)
            figure.violations = ["\(names.joined(separator: ", ")) ended with \(ending): \(words.suffix(600))"]
            return [figure]
        }
        return try JSONDecoder().decode([Figure].self, from: bytes)
    }
}
