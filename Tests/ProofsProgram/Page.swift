import Foundation

/// The page of figures: the tries and violations of each harness.
struct Page {
    private struct Row {
        let title: String
        let figure: Figure
        let seconds: Int
    }

    /// Prints a line immediately, as progress.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    let seed: Int
    private var rows: [Row] = []

    init(seed: Int) { self.seed = seed }

    mutating func add(_ title: String, _ figure: Figure, took duration: Duration) {
        rows.append(Row(title: title, figure: figure, seconds: Int(duration.components.seconds)))
    }

    var violations: [String] { rows.flatMap(\.figure.violations) }
    var isReached: Bool { rows.allSatisfy(\.figure.isReached) }

    var text: String {
        var lines = ["", "What was tried (seed \(seed)):"]
        for row in rows {
            let figure = row.figure
            if let reason = figure.leftOut {
                lines += ["– \(row.title)", "    not tried: \(reason)"]
                continue
            }
            lines.append("\(figure.isReached ? "✔" : "✘") \(row.title)")
            lines.append(
                "    \(figure.counts.map(\.text).joined(separator: "; ")), "
                    + "\(figure.violations.count) violations, \(row.seconds) s"
            )
            lines += figure.remarks.map { "    \($0)" }
            lines += figure.violations.prefix(20).map { "    violation: \($0)" }
            if figure.violations.count > 20 { lines.append("    and \(figure.violations.count - 20) more") }
        }
        let left = rows.count { $0.figure.leftOut != nil }
        lines.append(
            !isReached
                ? "A guarantee was broken, or not tried often enough."
                : left == 0 ? "Every guarantee held." : "Every guarantee that was tried held; \(left) were not tried."
        )
        return lines.joined(separator: "\n")
    }
}
