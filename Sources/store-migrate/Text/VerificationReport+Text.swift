import StoreFormat
import StoreVerification

extension VerificationReport {
    /// The proof as a person reads it.
    func text(of path: String, _ style: Style, verbose: Bool) -> String {
        let shown = findings.filter { verbose || $0.severity >= .warning }
        let verdict =
            shown.isEmpty && passed ? style.green("sound") : style.red(Figures.count(Int64(shown.count), "finding"))
        var lines = ["\(Escaped.text(path)): \(verdict)"]
        lines.append(
            TextTable.text(
                levels.map { level in
                    let reason = level.reason.map { ": " + Escaped.text($0) } ?? ""
                    return [level.level.rawValue, level.status.rawValue + reason]
                }
            )
        )
        lines += shown.map { "  " + $0.line(style) }
        let silent = findings.count - shown.count
        if silent > 0 { lines.append("  \(Figures.count(Int64(silent), "note")) more with -v") }
        return lines.joined(separator: "\n")
    }
}
