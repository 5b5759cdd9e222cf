import StoreFormat
import StoreWriting

/// The search indexes over other tables (`content=`), and the triggers that only update them.
///
/// On a connection with an untrusted schema SQLite refuses writes of triggers to virtual tables. All content of such an index
/// follows from its content table, so a merge disables these triggers and rebuilds the index.
struct IndexTriggers {
    /// Words of triggers with other effects, or for only some of the rows.
    private static let others: Set<String> = ["when", "select", "raise"]

    /// The lower-case names of the indexes, except those that other triggers write to.
    let indexes: Set<String>
    let triggers: [StoreSchema.Trigger]

    init(_ schema: StoreSchema) {
        var contents: [String: String] = [:]
        for table in schema.tables {
            guard case .virtual(let module) = table.kind,
                case .rebuilt(let content?) = PlainLayout.kind(table, module: module)
            else { continue }
            contents[table.name.lowercased()] = content.lowercased()
        }
        let tables = Set(schema.tables.map { $0.name.lowercased() })
        var keeping: [(trigger: StoreSchema.Trigger, indexes: Set<String>)] = []
        var refused: Set<String> = []
        for trigger in schema.triggers where !trigger.name.hasPrefix(StoreFence.prefix) {
            let words = Self.words(of: trigger)
            let indexes = words.intersection(contents.keys)
            guard !indexes.isEmpty else { continue }
            let table = trigger.table.lowercased()
            let isPlain =
                words.intersection(tables).subtracting([table]) == indexes && words.isDisjoint(with: Self.others)
                && !words.contains { $0.hasPrefix("nscoredata") } && indexes.allSatisfy { contents[$0] == table }
            if isPlain { keeping.append((trigger, indexes)) } else { refused.formUnion(indexes) }
        }
        indexes = Set(contents.keys).subtracting(refused)
        triggers = keeping.filter { $0.indexes.isDisjoint(with: refused) }.map(\.trigger)
    }

    private static func words(of trigger: StoreSchema.Trigger) -> Set<String> {
        var words: Set<String> = []
        var tokens = SQLTokenizer(trigger.sql)
        while let token = tokens.next() {
            if let word = token.name { words.insert(word.lowercased()) }
        }
        return words
    }
}
