import Foundation
import Glibc

extension WalkWorld {
    /// A published snapshot: a copy for programs that only read, which is no place of rows.
    struct Snapshot {
        let content: StoreContent
        /// The store from which it was published.
        let source: Int
    }

    static let snapshotName = "d/s.db"
    var snapshotPath: String { scratch.path + "/" + Self.snapshotName }

    /// True for the snapshot, and for former ones that are kept for readers.
    func isSnapshot(_ path: String) -> Bool { path.hasPrefix(scratch.path + "/d/") }

    /// A person removes the snapshot, as a refusal advises.
    func removeSnapshot() throws {
        guard published != nil else { return }
        try FileManager.default.removeItem(atPath: snapshotPath)
        shell.append("rm -f \(Self.snapshotName)")
        records.append(.removedSnapshot)
        published = nil
    }

    /// The rules for the snapshot that the last command broke.
    func snapshotObjections(
        to call: WalkStep.ToolCall,
        _ answer: Answer,
        _ before: [StoreContent?]
    ) throws -> [(String, String)] {
        let former = published?.content.digest
        let content = try content(of: snapshotPath)
        let isDone = answer.ending == .exited(0)
        guard call.verb == "publish", call.words.contains("{snapshot}"), let source = call.places.first else {
            var found: [(String, String)] = []
            if content?.digest != former { found.append(("L5", "\(call.verb) changed the snapshot")) }
            return found + confusions(call, answer)
        }
        guard let content else {
            published = nil
            if former != nil { return [("L2", "publish removed the snapshot")] }
            return isDone ? [("L4", "publish claims success, and there is no snapshot")] : []
        }
        defer { published = Snapshot(content: content, source: source) }
        guard isDone || content.digest != former else {
            return flaws()
        }
        let claim = isDone ? "publish claims success, and the snapshot" : "the new snapshot"
        let found = difference(of: content, from: before[source], to: contents[source], call, at: source)
        return flaws() + (found.map { [("L4", "\(claim) \($0) the store at \(name(source))")] } ?? [])
    }

    /// Commands that took a snapshot for a store, or a store for a snapshot.
    private func confusions(_ call: WalkStep.ToolCall, _ answer: Answer) -> [(String, String)] {
        guard answer.ending == .exited(0) else { return [] }
        switch call.verb {
        case "publish": return [("L4", "publish took the path of the store at \(name(call.places.last ?? 0))")]
        case "share", "merge":
            return call.words.contains("{snapshot}") ? [("L4", "\(call.verb) took the snapshot for a store")] : []
        case "status":
            guard call.words.contains("{snapshot}"), let status = answer.object("status") else { return [] }
            let isReported = answer.objects.contains { $0["code"] as? String == "publishedSnapshot" }
            let isShared =
                status["lateWrites"] as? String == "none" || (status["next"] as? String)?.contains(" retire ") == true
            return isReported && !isShared ? [] : [("L4", "status takes the snapshot for a shared store")]
        default: return []
        }
    }

    /// How a snapshot differs from every content that the store had while the command ran; nil if it equals one.
    private func difference(
        of snapshot: StoreContent,
        from before: StoreContent?,
        to after: StoreContent?,
        _ call: WalkStep.ToolCall,
        at source: Int
    ) -> String? {
        guard let before, let after else { return "is that of no content of" }
        guard call.liveWriter?.place == source else {
            return snapshot.digest == after.digest ? nil : "differs from"
        }
        // An app inserted rows, in the order of their tokens: the snapshot has all former rows, and the first of the new ones.
        let added = after.tokens.subtracting(before.tokens)
        let taken = snapshot.tokens.subtracting(before.tokens)
        let last = taken.map { $0.dropFirst() }.max() ?? ""
        let expected = before.tokens.union(added.filter { $0.dropFirst() <= last })
        guard snapshot.tokens == expected else {
            let odd = snapshot.tokens.symmetricDifference(expected).sorted()
            return "differs in \(odd.joined(separator: ", ")) from"
        }
        return snapshot.tokens.sorted().first { snapshot.rows[$0] != after.rows[$0] }.map { "has another \($0) than" }
    }

    /// What keeps programs from reading the snapshot without locks, or allows them to write to it.
    private func flaws() -> [(String, String)] {
        var status = stat()
        guard lstat(snapshotPath, &status) == 0 else { return [] }
        var found: [String] = []
        if status.st_mode & 0o222 != 0 { found.append("is writable") }
        let header = FileHandle(forReadingAtPath: snapshotPath)?.readData(ofLength: 20)
        if header?.dropFirst(18).elementsEqual([1, 1]) != true { found.append("is not in rollback mode") }
        for suffix in ["-wal", "-journal"] where access(snapshotPath + suffix, F_OK) == 0 {
            found.append("has a file \(suffix)")
        }
        let check = try? PlainStore(snapshotPath, isImmutable: true).rows("PRAGMA integrity_check")
        if check?.compactMap(StoredText.decode) != ["ok"] { found.append("is damaged") }
        return found.map { ("L4", "the snapshot \($0)") }
    }
}
