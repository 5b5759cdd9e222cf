/// The expected rows, derived only from the apps' writes.
///
/// A token names one version of a row. An app that changes a row ends one version and begins the next; an app that deletes
/// a row ends its version. A version that no app ended must be found somewhere.
struct WalkModel: Sendable {
    struct Version: Sendable {
        let token: String
        let row: Int
        /// The version that an app changed to this one.
        let ancestor: String?
        let place: Int
        let content: StoreContent.Row
    }

    /// How an app ended a version.
    struct End: Sendable {
        let place: Int
        let isDeletion: Bool
    }

    private(set) var versions: [String: Version] = [:]
    private(set) var ends: [String: End] = [:]
    /// Versions whose loss a person decided, by removing the only archive with them.
    private(set) var renounced: Set<String> = []
    /// Rows with the same key are the same row in every store, unless the key is a number.
    private var rowOfKey: [String: Int] = [:]
    /// The rows that had a key in a store: for the tool, a row with the key of a deleted row is that row changed.
    private var rowsOfKey: [Int: [String: Set<Int>]] = [:]
    private var twins: [Int: Int] = [:]
    private var rowCount = 0

    /// True for a version that must be found somewhere.
    func isAlive(_ token: String) -> Bool {
        versions[token] != nil && ends[token] == nil && !renounced.contains(token)
    }
    var alive: [String] { versions.keys.filter(isAlive).sorted() }

    /// Versions that a person's decision overrules, such as `keep-new` or `--overwrite`: they need not be in a live store any
    /// more, but in some file.
    private(set) var overruled: Set<String> = []
    mutating func overrule(_ tokens: Set<String>) { overruled.formUnion(tokens) }

    mutating func renounce(_ tokens: Set<String>) { renounced.formUnion(tokens) }

    /// Records an app's write to a store: `update` names the version that it changed, and its new token.
    mutating func record(
        at place: Int,
        from before: StoreContent,
        to after: StoreContent,
        update: (old: String, new: String)? = nil
    ) {
        see(before, at: place)
        for (token, rows) in after.rows where before.rows[token] == nil {
            guard let content = rows.first else { continue }
            var ancestor: Version?
            if let update, update.new == token { ancestor = versions[update.old] }
            // Rows without a key are the same only if they are equal.
            let continues = ancestor != nil && content.key != nil
            let row = continues ? ancestor?.row ?? newRow(content, at: place) : newRow(content, at: place)
            versions[token] = Version(
                token: token,
                row: row,
                ancestor: ancestor?.token,
                place: place,
                content: content
            )
        }
        for token in before.rows.keys where after.rows[token] == nil && ends[token] == nil {
            ends[token] = End(place: place, isDeletion: update?.old != token)
        }
        see(after, at: place)
    }

    /// Records a row that an app wrote while a command ran; it may be missing.
    mutating func record(_ token: String, as content: StoreContent.Row?, at place: Int) {
        let content =
            content ?? StoreContent.Row(table: "", token: token, key: nil, hasIntegerKey: false, values: [:])
        versions[token] = Version(
            token: token,
            row: newRow(content, at: place),
            ancestor: nil,
            place: place,
            content: content
        )
    }

    /// Records the keys of a store.
    mutating func see(_ content: StoreContent, at place: Int) {
        for row in content.rows.values.joined() {
            guard let key = Self.name(row), let version = versions[row.token] else { continue }
            rowsOfKey[place, default: [:]][key, default: []].insert(version.row)
        }
    }

    private static func name(_ content: StoreContent.Row) -> String? {
        content.key.map { "\(content.table)/\($0.joined(separator: "|"))" }
    }

    private mutating func newRow(_ content: StoreContent.Row, at place: Int) -> Int {
        rowCount += 1
        guard let key = Self.name(content) else { return rowCount }
        if !content.hasIntegerKey {
            if let row = rowOfKey[key] { return row }
            rowOfKey[key] = rowCount
        }
        for other in rowsOfKey[place]?[key] ?? [] { join(rowCount, other) }
        if let unique = content.values["name"] {
            let name = "\(content.table)/name/\(unique)"
            if let other = rowOfKey[name] { join(rowCount, other) } else { rowOfKey[name] = rowCount }
        }
        return rowCount
    }

    // MARK: Rows that a merge may identify

    private mutating func join(_ first: Int, _ second: Int) {
        let (first, second) = (kin(first), kin(second))
        if first != second { twins[first] = second }
    }

    private func kin(_ row: Int) -> Int {
        var row = row
        while let next = twins[row] { row = next }
        return row
    }

    /// True when the two are versions of one row, or of rows that a merge may identify.
    func areKin(_ first: String, _ second: String) -> Bool {
        guard let first = versions[first], let second = versions[second] else { return false }
        return kin(first.row) == kin(second.row)
    }

    func ancestors(of token: String) -> Set<String> {
        var result: Set<String> = []
        var next = versions[token]?.ancestor
        while let token = next, result.insert(token).inserted { next = versions[token]?.ancestor }
        return result
    }

    /// True for a version that shares no value with an earlier one: a merge counts it as a new row with a reused key.
    ///
    /// Nulls of the earlier one and generated columns do not count.
    func isSeparate(_ token: String) -> Bool {
        guard let values = versions[token]?.content.values else { return false }
        return ancestors(of: token).compactMap { versions[$0]?.content.values }
            .contains { earlier in
                earlier.allSatisfy { column, value in
                    StoreContent.Row.generated.contains(column) || value == "n" || value != values[column]
                }
            }
    }

    /// True when no version of a row is left.
    func isGone(rowOf token: String) -> Bool {
        guard let row = versions[token]?.row else { return true }
        return versions.values.allSatisfy { kin($0.row) != kin(row) || ends[$0.token] != nil }
    }

    /// The values that a column ever had in a version's row, or in a row that a merge may mix with it.
    func values(of column: String, in token: String) -> Set<String> {
        guard let row = versions[token]?.row else { return [] }
        var others = versions.values.filter { $0.row != row && kin($0.row) == kin(row) }
        var reached = versions.values.filter { $0.row == row }
        var next = 0
        while next < reached.count {
            let known = reached[next].content
            let rows = Set(others.filter { known.mayMix(with: $0.content) }.map(\.row))
            reached += others.filter { rows.contains($0.row) }
            others.removeAll { rows.contains($0.row) }
            next += 1
        }
        return Set(reached.compactMap { $0.content.values[column] })
    }

    /// True if a column of a version's row ever referred to a row.
    func referred(_ column: String, of token: String, to other: String) -> Bool {
        contents(ofRowOf: token).contains { content in content.links[column].map { areKin($0, other) } == true }
    }

    private func contents(ofRowOf token: String) -> [StoreContent.Row] {
        guard let row = versions[token]?.row else { return [] }
        return versions.values.filter { kin($0.row) == kin(row) }.map(\.content)
    }
}

extension StoreContent.Row {
    /// Columns that SQLite computes from others.
    static let generated: Set<String> = ["size", "kind"]

    /// False where a merge must keep both rows: they have one number and share no value.
    ///
    /// A merge may mix rows of FTS5 tables, which it knows by their numbers alone, and rows whose references it translates.
    fileprivate func mayMix(with other: StoreContent.Row) -> Bool {
        guard hasIntegerKey, other.hasIntegerKey, table == other.table, table != "words", links.isEmpty,
            other.links.isEmpty
        else { return true }
        return values.contains { column, value in
            value != "n" && !Self.generated.contains(column) && value == other.values[column]
        }
    }
}
