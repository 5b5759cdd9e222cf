import Foundation
import Glibc

extension WalkWorld {
    /// The statuses that the manual lists.
    private static let statuses: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 130]
    /// Verbs that write to no store.
    static let readers: Set<String> = [
        "plan", "status", "verify", "diff", "inspect", "backup", "backups", "publish", "clean",
    ]

    /// Verbs that find nothing only where there is no store.
    private static let searchers: Set<String> = makers.union(["unshare", "status", "diff"])
    /// Those that need only their first store.
    private static let makers: Set<String> = ["share", "plan", "backup", "publish"]

    /// Columns whose values depend on keys or on other columns.
    private static let kept: Set<String> = ["parent", "ZHABIT", "size", "kind", "Z_ENT", "Z_OPT"]

    /// The rules that the last command broke.
    func objections(
        to call: WalkStep.ToolCall,
        _ answer: Answer,
        before: [StoreContent?],
        _ step: Int
    ) throws -> [Violation] {
        var found: [(rule: String, text: String)] = []
        found += ending(of: call, answer)
        let live = call.liveWriter?.place
        let isDone = answer.ending == .exited(0)
        if call.verb == "backups" { found += prunedArchives(call) }
        found += leftStores(call, answer, before)
        found += cleaningObjections(to: call, answer)
        found += try snapshotObjections(to: call, answer, before)
        for place in places.indices {
            guard let new = contents[place] else { continue }
            found += doubledRows(in: new, at: place)
            found += wrongValues(in: new, at: place)
            guard let old = before[place] else { continue }
            found += try lostRows(from: old, to: new, at: place, call)
            if Self.readers.contains(call.verb), place != live, old.digest != new.digest {
                found.append(("L5", "\(call.verb) changed the store at \(name(place))"))
            }
            // An unshare merges late writes into the new store, and may then find further ones, or the old store locked.
            let isLateMerge =
                call.verb == "unshare" && place == call.places.last
                && call.places.first.map { live == $0 || holders[$0] != nil } == true
            if case .exited(let status) = answer.ending, !call.isStopped, place != live, !isLateMerge, status != 0,
                status != 6,
                old.digest != new.digest
            {
                found.append(("L4", "it ended with \(status), and the store at \(name(place)) is another"))
            }
            if old.refusal != nil, old.digest != new.digest, !mayLift(call, place) {
                found.append(("L5", "the fenced store at \(name(place)) was changed"))
            }
            if old.refusal != nil, new.refusal == nil, !mayLift(call, place) {
                found.append(("L5", "the fence of the store at \(name(place)) was lifted"))
            }
        }
        found += try missingRows()
        let parked = newlyParkedRows()
        if isDone, !call.isStopped {
            found += parked.subtracting(named).sorted().map { ("L1", "no command named \(relative($0))") }
            for path in parked { model.overrule(try tokens(in: path).filter(isWon(byAnother:))) }
        }
        if isDone { found += try claims(call, answer, before) }
        noteMerge(call, answer, before)
        return found.map { Violation(step: step, rule: $0.rule, text: $0.text) }
    }

    func name(_ place: Int) -> String { relative(places[place]) }

    /// True for a file that may keep rows: no store of a place, and no snapshot, which the next publication replaces.
    func isKeeping(_ path: String) -> Bool { !places.contains(path) && !isSnapshot(path) }

    /// True when a store has another version of the row.
    private func isWon(byAnother token: String) -> Bool {
        contents.contains { content in
            content?.tokens.contains { $0 != token && model.areKin($0, token) } == true
        }
    }

    /// True where a later command may still finish an interrupted one.
    func isUnfinished(_ place: Int) -> Bool { unfinished.contains { $0.places.contains(place) } }

    /// True for commands that may remove the fence of a store, and then write to it.
    private func mayLift(_ call: WalkStep.ToolCall, _ place: Int) -> Bool {
        (unfinished + [call])
            .contains { call in
                switch call.verb {
                case "unshare", "resume", "abort", "share": call.places.first == place
                case "restore": call.places.last == place
                // An unmerge of the merge that a share began with ends the share: its old store is in use again.
                case "unmerge": call.places.first != place
                default: false
                }
            }
    }

    private func ending(of call: WalkStep.ToolCall, _ answer: Answer) -> [(String, String)] {
        switch answer.ending {
        case .hung: return [("L7", "it did not end")]
        case .killed(SIGKILL) where call.isStopped: return []
        case .killed(SIGTERM):
            // The signal came before the program handled signals, and so before it did anything.
            if case .terminated = call.harm { return [] }
            return [("status", "it was ended by signal \(SIGTERM)")]
        case .killed(let signal): return [("status", "it was ended by signal \(signal)")]
        case .exited(let status):
            guard Self.statuses.contains(status) else { return [("status", "status \(status) is not documented")] }
            if status != 0, answer.text.isEmpty { return [("status", "status \(status) without a message")] }
            // A store named like a log is a usage error.
            if status == 2, setting.hasOddNames { return [] }
            guard !call.isStopped, isUnexplained(status, of: call, answer) else { return [] }
            let circumstances = call.failure.map { " under \($0)" } ?? ""
            return [("status", "it ended with \(status)\(circumstances): \(relative("\(answer.text.suffix(300))"))")]
        }
    }

    /// True for a status that neither the stores nor failing file calls explain; walks make no usage errors.
    private func isUnexplained(_ status: Int32, of call: WalkStep.ToolCall, _ answer: Answer) -> Bool {
        // A failing program of the person, and a declined share.
        if status == 1, call.names(.fails) || call.names(.dies) { return false }
        if status == 130, call.names(.declines) { return false }
        guard let failure = call.failure, !failure.isRetried else { return [1, 2, 5, 14, 130].contains(status) }
        switch status {
        case 1, 5: return failure == .fullDisk
        // SQLite does not say why it cannot create its index.
        case 14: return failure != .fullDisk && !answer.text.contains("the WAL index cannot be created")
        // A store that cannot be read is not absent.
        case 10:
            let needed = Self.makers.contains(call.verb) ? Array(call.places.prefix(1)) : call.places
            return Self.searchers.contains(call.verb) && needed.allSatisfy { contents[$0] != nil }
        default: return [2, 130].contains(status)
        }
    }

    // MARK: Rows

    /// L2: a version leaves a store only because an app ended it, or because of a decision.
    private func lostRows(
        from old: StoreContent,
        to new: StoreContent,
        at place: Int,
        _ call: WalkStep.ToolCall
    ) throws -> [(String, String)] {
        var gone = old.tokens.subtracting(new.tokens).filter(model.isAlive)
        if mayReplace(call, place) {
            model.overrule(gone)
            return []
        }
        gone.subtract(model.overruled)
        // An unmerge, or the command that finishes one, rolls back merged rows.
        if (unfinished + [call]).contains(where: { $0.verb == "unmerge" && $0.places.first == place }) {
            gone.subtract(brought[place] ?? [])
        }
        guard !gone.isEmpty else { return [] }
        let isOverruled = isOverruling(call)
        // Without a base, a policy may prefer the older version; the other one is in a file that a command named, or that a
        // killed one left for a later command to name.
        let files = call.isStopped ? named.union(filesOfParkedRows()) : named
        let parked = isOverruled ? try files.filter { $0.hasSuffix(".parked.jsonl") }.flatMap(tokens(in:)) : []
        let losers = gone.filter { token in
            let ancestors = model.ancestors(of: token)
            // Another version of the row, or its deletion, won; rule L1 checks that this one is kept elsewhere.
            return new.tokens.contains { $0 != token && model.areKin($0, token) && !ancestors.contains($0) }
                || isOverruled
                    && (parked.contains(token) || ancestors.contains { model.ends[$0]?.isDeletion == true })
        }
        model.overrule(losers)
        return gone.subtracting(losers).sorted()
            .map { ("L2", "\($0) left the store at \(name(place)), and no app removed it") }
    }

    /// True where a person decided to replace the content of a store.
    private func mayReplace(_ call: WalkStep.ToolCall, _ place: Int) -> Bool {
        (unfinished + [call])
            .contains { call in
                switch call.verb {
                case "restore": call.places.last == place
                case "share": call.places.last == place && call.value(of: "--on-both") == "keep-old"
                default: false
                }
            }
    }

    /// L3: a row is in a store at most once.
    private func doubledRows(in content: StoreContent, at place: Int) -> [(String, String)] {
        var seen: [Int: String] = [:]
        var found: [(String, String)] = []
        for (token, rows) in content.rows.sorted(by: { $0.key < $1.key }) {
            if rows.count > 1, !copiedRows.contains(token) {
                found.append(("L3", "\(token) is \(rows.count) times in the store at \(name(place))"))
            }
            guard let row = model.versions[token]?.row else { continue }
            if let other = seen[row], !model.isSeparate(token), !model.isSeparate(other) {
                found.append(("L3", "\(other) and \(token), one row, are both in the store at \(name(place))"))
            }
            seen[row] = token
        }
        return found
    }

    /// Every value is, byte by byte, one that an app wrote to this row.
    private func wrongValues(in content: StoreContent, at place: Int) -> [(String, String)] {
        var found: [(String, String)] = []
        for (token, rows) in content.rows {
            guard let version = model.versions[token] else {
                if !token.hasPrefix("v9") { found.append(("L3", "\(token) at \(name(place)) was written by no app")) }
                continue
            }
            for row in rows {
                if !row.hasIntegerKey, let key = row.key, key != version.content.key {
                    found.append(("bytes", "the key of \(token) at \(name(place)) is \(key)"))
                }
                for (column, token) in row.links
                where version.content.links[column] != nil && !model.referred(column, of: row.token, to: token) {
                    found.append(("bytes", "\(column) of \(row.token) at \(name(place)) refers to \(token)"))
                }
                for (column, value) in row.values
                where !Self.kept.contains(column) && version.content.values[column] != value {
                    let allowed = model.values(of: column, in: token)
                    if !allowed.isEmpty, !allowed.contains(value) {
                        found.append(("bytes", "\(column) of \(token) at \(name(place)) is \(value.prefix(60))"))
                    }
                }
            }
        }
        return found
    }

    /// L1: every version that no app ended is in a store, or in a file that a command names.
    private func missingRows() throws -> [(String, String)] {
        guard try !rowsOutsideNamedFiles().isEmpty else { return [] }
        // A killed command names nothing.
        try askForStatus()
        return try rowsOutsideNamedFiles().sorted().map { ("L1", "\($0) is nowhere") }
    }

    private func rowsOutsideNamedFiles() throws -> Set<String> {
        var missing = Set(model.alive)
        for content in contents { missing.subtract(content?.tokens ?? []) }
        for path in named.sorted() where !missing.isEmpty && isKeeping(path) {
            missing.subtract(try tokens(in: path))
        }
        return missing
    }

    /// L1: the files of parked rows that the command created; rows in a file that no command named are lost.
    private func newlyParkedRows() -> Set<String> {
        let found = filesOfParkedRows()
        // A merge removes the file of a killed attempt that was not committed.
        defer { parkedFiles = found }
        return found.subtracting(parkedFiles)
    }

    private func filesOfParkedRows() -> Set<String> {
        var found: Set<String> = []
        for place in places {
            let url = URL(fileURLWithPath: place)
            let folder = url.deletingLastPathComponent().path + "/.store-migrate/" + url.lastPathComponent
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where name.hasSuffix(".parked.jsonl") { found.insert(folder + "/" + name) }
        }
        return found
    }

    /// L2: only commands that are documented to remove a store may remove it.
    private func leftStores(
        _ call: WalkStep.ToolCall,
        _ answer: Answer,
        _ before: [StoreContent?]
    ) -> [(String, String)] {
        places.indices.filter { before[$0] != nil && contents[$0] == nil }
            .filter { place in
                switch call.verb {
                case "retire": call.places.first != place
                case "unshare": call.places.last != place
                case "resume", "abort": false
                // Any command on its store may finish an interrupted run.
                default: !isUnfinished(place)
                }
            }
            .map { ("L2", "the store at \(name($0)) is gone") }
    }

    func prunedArchives(_ call: WalkStep.ToolCall) -> [(String, String)] {
        let gone = archives.filter { access($0.path, F_OK) != 0 }
        guard let last = archives.last, gone.contains(where: { $0.path == last.path }) else {
            for archive in gone { model.renounce(archive.tokens) }
            return []
        }
        return [("L2", "the newest archive was removed: \(relative(last.path))")]
    }

    /// Records the rows of a merge, which an unmerge may roll back.
    private func noteMerge(_ call: WalkStep.ToolCall, _ answer: Answer, _ before: [StoreContent?]) {
        guard !Self.readers.contains(call.verb) else { return }
        if call.verb != "share" || answer.ending != .exited(0) { pairs = [:] }
        for place in places.indices {
            guard let old = before[place], let new = contents[place] else {
                brought[place] = nil
                continue
            }
            let added = new.tokens.subtracting(old.tokens).subtracting(call.liveTokens(at: place))
            if call.verb == "unmerge", call.places.first == place, answer.ending == .exited(0) {
                // A second unmerge rolls back the merge before.
                brought[place]?.formIntersection(new.tokens)
            } else {
                brought[place, default: []].formUnion(added)
            }
        }
    }
}
