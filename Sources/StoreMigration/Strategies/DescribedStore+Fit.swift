import SafeFiles
import StoreFormat
import StoreStrategies

extension DescribedStore {
    /// Throws when an existing store, which other processes may have open, would have to be changed.
    func requireFit(of occupant: StoreInspection?, with status: FileStatus) throws {
        func refuse(_ what: String, _ command: String) -> MigrationError {
            MigrationError(
                .needsDecision,
                "the store at the new path \(what), which is not changed while others may have it open",
                path: question.place.path,
                advice: "Close every program that has it open, then: \(command)"
            )
        }
        let path = "'\(question.place.path)'"
        if treatment.journalMode != nil || roles.contains(where: { $0.description.journalMode != nil }),
            let occupant, occupant.header.journalMode == .wal, journalMode == .rollback
        {
            throw refuse("is in write-ahead log mode", "sqlite3 \(path) 'PRAGMA journal_mode=DELETE'")
        }
        if let mode = treatment.mode, status.mode & 0o777 != mode {
            throw refuse("has the mode \(PosixMode.text(status.mode & 0o777))", "chmod \(PosixMode.text(mode)) \(path)")
        }
        if let group = treatment.group, status.group != group {
            throw refuse("belongs to the group \(status.group)", "chgrp \(group) \(path)")
        }
    }

    /// The differences between an existing store and the strategies, each with the option and the strategy.
    ///
    /// They are read from the header, the tables, and the modes and groups of the files. The other options apply to a
    /// connection, not to the store.
    func differences() throws -> [Finding] {
        var found: [Finding] = []
        func note(_ option: DescriptionOption, _ value: String) {
            guard let (strategy, wanted) = setting(of: option) else { return }
            found.append(
                Finding(
                    .strategiesNotApplied,
                    .warning,
                    level: .files,
                    "\(option) is \(value) in the shared store, and \(strategy) requires \(wanted); "
                        + "nothing was changed, because others may have it open",
                    path: question.place.path
                )
            )
        }
        if treatment.journalMode != nil { note(.journalMode, inspection.header.journalMode == .wal ? "WAL" : "DELETE") }
        if treatment.addsHistory { note(.isHistoryTrackingEnabled, "false") }
        let files = try filesInPlace()
        if let mode = treatment.mode, let other = files.first(where: { $0.mode & 0o777 != mode }) {
            note(.posixMode, PosixMode.text(other.mode & 0o777))
        }
        if let group = treatment.group, let other = files.first(where: { $0.group != group }) {
            note(.posixGroup, String(other.group))
        }
        return found
    }

    /// The strategy that sets an option, and the value.
    private func setting(of option: DescriptionOption) -> (strategy: String, value: String)? {
        roles.lazy.flatMap(\.applied)
            .compactMap { applied in applied.changes.values[option].map { (applied.strategy, $0) } }
            .first
    }

    /// The main file and the external files.
    private func filesInPlace() throws -> [FileStatus] {
        let main = try question.container.status(of: question.place.name)
        guard let external = try question.container.externalData(of: question.place) else {
            return [main].compactMap(\.self)
        }
        return try [main].compactMap(\.self) + external.names().compactMap { try external.status(of: $0) }
    }
}
