/// The result of one scenario.
public struct ScenarioReport: Hashable, Sendable, Codable {
    /// Whether all claims held.
    public enum Result: String, Sendable, Codable {
        case held
        case failed
        /// This machine lacks a requirement of the scenario, or the tool could not be started.
        case notRun
        /// The file contains no valid scenario.
        case invalid
    }

    public let name: String
    /// The scenario's file; empty when its text came from elsewhere.
    public let path: String
    public let about: String
    public let story: [String]
    public let result: Result
    /// The steps that were carried out, in their order.
    public let steps: [ScenarioStepReport]
    public let failures: [ScenarioFailure]
    /// Why it was not run, or what is wrong in its file.
    public let reason: String?
    public let seconds: Double
    /// The scratch folder, where it was kept.
    public let keptPlace: String?
}

extension ScenarioReport {
    /// The report on a path that leads to no scenario, for `reason`.
    public init(missing path: String, _ reason: String) {
        self.init(invalid: path, ScenarioError(path: path, position: nil, reason))
    }

    /// The report on a file that contains no valid scenario.
    public init(invalid file: String, _ error: ScenarioError) {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        self.init(
            name: name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name,
            path: file,
            about: "",
            story: [],
            result: .invalid,
            steps: [],
            failures: [],
            reason: error.description,
            seconds: 0,
            keptPlace: nil
        )
    }

    private var word: String {
        switch result {
        case .held: "held"
        case .failed: "FAILED"
        case .notRun: "NOT RUN"
        case .invalid: "INVALID"
        }
    }
}

extension ScenarioReport: CustomStringConvertible {
    /// A line for the scenario, and for each failure the expected and the actual result.
    public var description: String {
        let seconds = (self.seconds * 10).rounded() / 10
        var lines = ["\(word)  \(name)  (\(seconds) s)"]
        if let reason { lines.append("  \(reason)") }
        for failure in failures {
            lines.append("  \(path.isEmpty ? name : path):\(failure.line):\(failure.column): \(failure.title)")
            lines.append("    expected  \(failure.expected)")
            lines.append("    found     \(failure.found)")
            for (index, line) in failure.said.split(separator: "\n").enumerated() {
                lines.append((index == 0 ? "    it said   " : "              ") + line)
            }
        }
        if let keptPlace {
            lines.append("  its files are kept in \(keptPlace)")
        } else if result == .failed {
            lines.append("  to keep its files: store-migrate rehearse --keep \(path.isEmpty ? name : path)")
        }
        return lines.joined(separator: "\n")
    }
}

/// A step that was carried out.
public struct ScenarioStepReport: Hashable, Sendable, Codable {
    /// The line in the scenario, counted from 1.
    public let line: Int
    /// The step in the scenario's words.
    public let title: String
    public let hasHeld: Bool
    public let seconds: Double
}

/// A failed claim or step of a scenario.
public struct ScenarioFailure: Hashable, Sendable, Codable {
    /// The line in the scenario, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int
    /// The step or the expectation, in the scenario's words.
    public let title: String
    /// The expected result.
    public let expected: String
    /// The actual result.
    public let found: String
    /// The tool's standard error, for a failed run.
    public let said: String
}
