import Foundation

extension WalkWorld {
    /// L4: the report of a successful command is true.
    func claims(
        _ call: WalkStep.ToolCall,
        _ answer: Answer,
        _ before: [StoreContent?]
    ) throws -> [(String, String)] {
        guard let old = call.places.first, !call.words.contains("{snapshot}") else { return [] }
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
                // A share finishes an interrupted one as that began.
                let isFinished = interrupted.contains(old) && answer.text.contains("fenceStays")
                if treatment == "capture", content.refusal != nil, before[old]?.refusal == nil, !isFinished {
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
        case "merge":
            guard !call.words.contains("--from-parked") else { return [] }
            return try unmerged(from: new, into: old, before)
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

    /// Versions in the source of a merge that are neither in the receiver nor parked; a copy of the receiver that a restore kept
    /// does not count.
    private func unmerged(from source: Int, into receiver: Int, _ before: [StoreContent?]) throws -> [(String, String)]
    {
        guard let from = before[source], let into = contents[receiver] else { return [] }
        var missing = from.tokens.subtracting(into.tokens).filter(model.isAlive)
        for path in named.sorted() where path.hasSuffix(".parked.jsonl") { missing.subtract(try tokens(in: path)) }
        return missing.sorted().map { ("L4", "\($0) of \(name(source)) is not in \(name(receiver)) after the merge") }
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
        for path in named.sorted() where !missing.isEmpty && isKeeping(path) {
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
