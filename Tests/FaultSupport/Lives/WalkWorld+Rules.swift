import Foundation
import Glibc

extension WalkWorld {
    /// The statuses that the manual lists.
    private static let statuses: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 130]
    /// Verbs that write nothing.
    static let readers: Set<String> = ["plan", "status", "verify", "diff", "inspect", "backup", "backups"]

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
        let isHarmed = call.harm != .none
        let live = call.liveWriter?.place
        let isDone = answer.ending == .exited(0)
        if call.verb == "backups" { found += prunedArchives(call) }
        found += leftStores(call, answer, before)
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
            if case .exited(let status) = answer.ending, !isHarmed, place != live, !isLateMerge, status != 0,
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
        if isDone, !isHarmed {
            found += parked.subtracting(named).sorted().map { ("L1", "no command named \(relative($0))") }
            for path in parked { model.overrule(try tokens(in: path).filter(isWon(byAnother:))) }
        }
        if isDone { found += try claims(call, answer, before) }
        noteMerge(call, answer, before)
        return found.map { Violation(step: step, rule: $0.rule, text: $0.text) }
    }

    private func name(_ place: Int) -> String { relative(places[place]) }

    /// True when a store has another version of the row.
    private func isWon(byAnother token: String) -> Bool {
        contents.contains { content in
            content?.tokens.contains { $0 != token && model.areKin($0, token) } == true
        }
    }

    /// True where a later command may still finish an interrupted one.
    private func isUnfinished(_ place: Int) -> Bool { unfinished.contains { $0.places.contains(place) } }

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
        case .killed(SIGKILL) where call.harm != .none: return []
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
            // The command was not disturbed, and walks make no other usage errors.
            if [1, 2, 5, 14, 130].contains(status), call.harm == .none {
                return [("status", "it ended with \(status): \(relative(answer.text.suffix(300).description))")]
            }
            return []
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
        // Without a base, a policy may prefer the older version; the other one is in a file that a command named.
        let parked = isOverruled ? try named.filter { $0.hasSuffix(".parked.jsonl") }.flatMap(tokens(in:)) : []
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
        for path in named.sorted() where !missing.isEmpty && !places.contains(path) {
            missing.subtract(try tokens(in: path))
        }
        return missing
    }

    /// L1: the files of parked rows that the command created; rows in a file that no command named are lost.
    private func newlyParkedRows() -> Set<String> {
        var found: Set<String> = []
        for place in places {
            let url = URL(fileURLWithPath: place)
            let folder = url.deletingLastPathComponent().path + "/.store-migrate/" + url.lastPathComponent
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where name.hasSuffix(".parked.jsonl") { found.insert(folder + "/" + name) }
        }
        defer { parkedFiles.formUnion(found) }
        return found.subtracting(parkedFiles)
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

    private func prunedArchives(_ call: WalkStep.ToolCall) -> [(String, String)] {
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

    // MARK: Words

    /// L4: the report of a successful command is true.
    private func claims(
        _ call: WalkStep.ToolCall,
        _ answer: Answer,
        _ before: [StoreContent?]
    ) throws -> [(String, String)] {
        guard let old = call.places.first else { return [] }
        let new = call.places.last ?? old
        // What an app wrote to the old store beside the command may have come after the command read it.
        let late = contents[old]?.refusal == nil && call.liveWriter?.place == old ? before[old] : nil
        let written = late.map { contents[old]?.tokens.subtracting($0.tokens) ?? [] } ?? []
        switch call.verb {
        case "share":
            let isDecided = call.value(of: "--on-both") == "keep-new"
            if isDecided, let from = contents[old], let to = contents[new] {
                model.overrule(from.tokens.subtracting(to.tokens))
            }
            let treatment = treatment(of: old, call, answer)
            // A decision for the new store is one against deletions at the old one, too.
            let deleting = isDecided ? nil : before[new]
            var found = try stranded(at: old, for: new, deleting: deleting, late: written)
            if let content = contents[new], let refusal = content.refusal {
                found.append(("L4", "the shared store at \(name(new)) refuses writes: \(relative(refusal))"))
            }
            if let content = contents[old] {
                if treatment == "capture", content.refusal != nil, before[old]?.refusal == nil, !isUnfinished(old) {
                    found.append(("L4", "the captured store at \(name(old)) refuses writes"))
                } else if treatment == "fence", content.refusal == nil {
                    found.append(("L4", "the old store at \(name(old)) still takes writes"))
                }
            }
            pairs = [:]
            if let from = contents[old], let to = contents[new] {
                pairs[[old, new]] = from.tokens.intersection(to.tokens)
            }
            return found
        case "unshare":
            guard let content = contents[old] else { return [("L4", "nothing is at \(name(old)) after unshare")] }
            if let moved = before[new]?.refusal,
                places.contains(where: { $0 != places[old] && moved.contains("store moved to \($0) (") })
            {
                return [("L4", "\(name(old)) got the content of \(name(new)), which was shared on: \(relative(moved))")]
            }
            return content.refusal.map { [("L4", "the store at \(name(old)) refuses writes: \(relative($0))")] } ?? []
        case "status": return try statusClaims(old, new, answer, late: written)
        case "diff":
            guard call.liveWriter == nil, let first = contents[old], let second = contents[new] else { return [] }
            return first.digest == second.digest ? [] : [("L4", "diff calls \(name(old)) and \(name(new)) equal")]
        case "verify":
            guard call.words.contains("--against"), call.liveWriter == nil, let first = contents[old],
                let second = contents[new]
            else { return [] }
            return first.digest == second.digest ? [] : [("L4", "verify calls \(name(old)) and \(name(new)) equal")]
        case "retire":
            return contents[old] == nil ? [] : [("L4", "the retired store is at \(name(old))")]
        default: return []
        }
    }

    /// The promised treatment of the old store of a share; nil where it depends on an earlier share, and no report says it.
    private func treatment(of old: Int, _ call: WalkStep.ToolCall, _ answer: Answer) -> String? {
        call.value(of: "--old")
            ?? (captured.contains(old) ? answer.object("summary")?["policy"] as? String : "fence")
    }

    private func statusClaims(
        _ old: Int,
        _ new: Int,
        _ answer: Answer,
        late: Set<String>
    ) throws -> [(String, String)] {
        guard let status = answer.object("status") else { return [] }
        var found: [(String, String)] = []
        for (place, side) in [(old, "old"), (new, "new")] {
            guard let said = status[side] as? [String: Any], let content = contents[place] else { continue }
            if let fenced = said["fenced"] as? Bool, fenced != (content.refusal != nil) {
                found.append(("L4", "status says that \(name(place)) is\(fenced ? "" : " not") fenced"))
            }
        }
        let offersRetire = (status["next"] as? String)?.contains(" retire ") == true
        if status["lateWrites"] as? String == "none" || offersRetire {
            found += try stranded(at: old, for: new, deleting: nil, evenOverruled: offersRetire, late: late)
        }
        return found
    }

    /// Versions and deletions in the old store that did not arrive in the new one.
    private func stranded(
        at old: Int,
        for new: Int,
        deleting before: StoreContent?,
        evenOverruled: Bool = false,
        late: Set<String> = []
    ) throws -> [(String, String)] {
        guard let from = contents[old], let to = contents[new] else { return [] }
        var missing = from.tokens.subtracting(to.tokens).filter(model.isAlive)
        missing.subtract(late)
        if !evenOverruled { missing.subtract(model.overruled) }
        for path in named.sorted() where !missing.isEmpty && !places.contains(path) {
            let kept = try tokens(in: path).intersection(missing)
            // What a merge parked lost a decision.
            if path.hasSuffix(".jsonl") { model.overrule(kept) }
            missing.subtract(kept)
        }
        var found = missing.sorted().map { ("L4", "\($0) of \(name(old)) is not in \(name(new))") }
        if let before, let common = pairs[[old, new]] {
            // A row to which rows of the other side refer stays, and is reported as a conflict.
            let destinations = Set(to.rows.values.joined().flatMap(\.links.values))
            let kept = common.intersection(before.tokens).intersection(to.tokens).subtracting(destinations)
                .filter { token in
                    guard let end = model.ends[token] else { return false }
                    return end.place == old && end.isDeletion && !from.tokens.contains(token)
                }
            found += kept.sorted().map { ("L4", "\($0) was deleted at \(name(old)), and is still in \(name(new))") }
        }
        return found
    }
}
