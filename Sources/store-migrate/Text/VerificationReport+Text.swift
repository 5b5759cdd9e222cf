import StoreFormat
import StoreVerification

extension VerificationReport {
    /// The proof as text.
    func text(of path: String, _ style: Style, verbose: Bool) -> String {
        let shown = findings.filter { verbose || $0.severity >= .warning }
        let verdict =
            shown.isEmpty && passed ? style.green("sound") : style.red(Figures.count(Int64(shown.count), "finding"))
        var lines = ["\(Escaped.path(path)): \(verdict)"]
        lines.append(
            TextTable.text(
                levels.map { level in
                    let reason = level.reason.map { ": " + Escaped.text($0) } ?? ""
                    let tried = level.level == .merging && level.reason == nil ? probe.map { ": " + $0.summary } : nil
                    return [level.level.rawValue, level.status.rawValue + reason + (tried ?? "")]
                }
            )
        )
        lines += shown.map { "  " + $0.line(style) }
        if verbose, let probe { lines += (probe.directions.map(\.summary) + probe.omissions).map { "  " + $0 } }
        let silent = findings.count - shown.count
        if silent > 0 { lines.append("  \(Figures.count(Int64(silent), "note")) more with -v") }
        return lines.joined(separator: "\n")
    }
}

extension MergeProbeReport {
    /// The operations that were not tried, one entity and operation per line.
    fileprivate var omissions: [String] {
        coverage.flatMap { entity in
            entity.omitted.sorted { $0.key < $1.key }
                .map { "not tried: \($0.key) of \(Escaped.text(entity.entity)): \(Escaped.text($0.value))" }
        }
    }
}

extension VerificationReport {
    /// The levels that passed: `files, sqlite, coredata`.
    var passedLevels: String {
        levels.filter { $0.status == .passed }.map(\.level.rawValue).joined(separator: ", ")
    }
}
