import ChangeRelay
import StoreAccess
import StoreFormat

extension PostedNotice {
    /// The notice as one line: sequence number, time, author, content.
    var text: String {
        let time = DateText.text(posted) ?? "-"
        let author = notice.author.map { Escaped.text($0) } ?? "-"
        return "#\(sequence) \(time) \(author): \(notice.content.text)"
    }
}

extension ChangeNotice.Content {
    /// The objects, each with a sign for its change.
    fileprivate var text: String {
        switch self {
        case .history(let transaction): return "history up to transaction \(transaction)"
        case .everything: return "everything"
        case .objects(let sets):
            let signs: [(ChangeNotice.Change, String)] = [
                (.inserted, "+"), (.updated, "~"), (.deleted, "-"), (.refreshed, "^"), (.invalidated, "!"),
            ]
            let objects = signs.flatMap { change, sign in
                (sets[change] ?? []).map { sign + Escaped.text("\($0.entity)/p\($0.primaryKey)") }
            }
            return objects.isEmpty ? "nothing" : objects.joined(separator: " ")
        }
    }
}

extension LegacyDefaultsImport.Result {
    /// The result of importing one key, as a line.
    func text(of path: String, _ key: String) -> String {
        let what =
            if findings.contains(where: { $0.code == .legacyFileAbsent }) {
                "there is no such file, and nothing to import"
            } else {
                "posted \(posted), \(waiting) waiting to be merged, removed \(removed)"
            }
        return "\(Escaped.text(path)), key '\(Escaped.text(key))': \(what)"
    }
}
