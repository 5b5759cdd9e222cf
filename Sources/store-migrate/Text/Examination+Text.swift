import StoreMigration

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
            return "  \(verdict)  \(Figures.padded(holder, to: 24))  \(Escaped.text(lock.sentence))"
        }
        let offences = offences.isEmpty ? "none" : "\(offences.count)"
        return "\(Escaped.text(path)): \(count), \(offences) for which iOS would end a suspended process\n"
            + rows.joined(separator: "\n") + hidden
    }
}
