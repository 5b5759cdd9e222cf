import ChangeRelay
import FoundationEssentials
import StoreFormat

extension PostedNotice {
    /// The notice as an object.
    var record: JSONValue {
        let (kind, transaction, sets) = notice.content.parts
        func uris(_ change: ChangeNotice.Change) -> (String, JSONValue) {
            (change.rawValue, .strings((sets[change] ?? []).map(\.description)))
        }
        return .object(
            [
                ("type", .string("notice")), ("place", .integer(sequence)), ("time", .optional(DateText.text(posted))),
                ("writer", .string(notice.key.writer)), ("number", .integer(notice.key.number)),
                ("author", .optional(notice.author)), ("kind", .string(kind)), ("transaction", .optional(transaction)),
            ] + ChangeNotice.Change.allCases.map(uris)
        )
    }
}

extension ChangeNotice.Content {
    /// The kind of content, with its transaction or its objects.
    var parts: (kind: String, transaction: Int64?, sets: [ChangeNotice.Change: [ObjectURI]]) {
        switch self {
        case .objects(let sets): ("objects", nil, sets)
        case .history(let transaction): ("history", transaction, [:])
        case .everything: ("everything", nil, [:])
        }
    }
}

extension LegacyDefaultsImport.Result {
    /// The result of importing one key, as an object.
    func record(of path: String, _ key: String) -> JSONValue {
        .object([
            ("type", .string("legacy")), ("path", .string(path)), ("key", .string(key)),
            ("posted", .integer(Int64(posted))), ("waiting", .integer(Int64(waiting))),
            ("removed", .integer(Int64(removed))),
        ])
    }
}
