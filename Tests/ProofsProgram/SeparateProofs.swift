import FaultSupport
import Foundation
import SafeFiles

/// Harnesses that are run by another process, in a machine of its own on a file system of its own.
struct SeparateProofs {
    let fileSystem: BlockFileSystem
    let names: [String]
    /// Words for that process beside those that say the scale.
    var arguments: [String] = []

    /// What they need beyond the time that they have for trying, to come to their end.
    private static let grace = Duration.seconds(900)

    /// Runs them, and reads what they did and found.
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
