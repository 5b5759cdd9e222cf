import StoreAccess
import StoreMigration
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

extension Examination {
    /// The examination as text.
    func text(_ style: Style) -> String {
        let rows = checks.map { check in
            let word = Figures.padded(check.state.rawValue, to: 7)
            let state =
                switch check.state {
                case .fine: style.green(word)
                case .note: style.yellow(word)
                case .problem: style.red(word)
                }
            return "  \(state)  \(Figures.padded(check.name, to: 15))  \(Escaped.text(shown(check)))"
        }
        let problems = checks.filter { $0.state == .problem }.count
        let verdict = problems == 0 ? "no problems" : Figures.count(Int64(problems), "problem")
        return "\(Escaped.text(folder)): \(verdict)\n" + rows.joined(separator: "\n")
    }

    /// The detail of a check, with the free space of the folder's file system.
    func shown(_ check: Check) -> String {
        guard check.name == Self.fileSystem, check.state == .fine else { return check.detail }
        return "\(check.detail), \(Figures.bytes(freeBytes)) free"
    }
}

extension SuspensionCheck {
    /// The locks as a table, with the offending ones in red.
    func text(_ style: Style) -> String {
        let count = Figures.count(Int64(locks.count), "lock")
        let hidden =
            hiddenProcesses.isEmpty
            ? "" : "\n  Processes whose locks this user cannot all see: \(hiddenProcesses.count)"
        guard !locks.isEmpty else { return "\(Escaped.text(path)): no locks" + hidden }
        let rows = locks.map { lock in
            let verdict = lock.endsSuspendedProcess ? style.red("0xdead10cc") : style.green("spared    ")
            let holder = "\(lock.process)" + (lock.program.map { " (\(Escaped.text($0)))" } ?? "")
            let start =
                lock.processStart.flatMap(DateText.text(secondsSince1970:)).map { ", process started \($0)" } ?? ""
            return "  \(verdict)  \(Figures.padded(holder, to: 24))  \(Escaped.text(lock.sentence))\(start)"
        }
        let offences = offences.isEmpty ? "none" : "\(offences.count)"
        return "\(Escaped.text(path)): \(count), \(offences) for which iOS would end a suspended process\n"
            + rows.joined(separator: "\n") + hidden
    }
}
