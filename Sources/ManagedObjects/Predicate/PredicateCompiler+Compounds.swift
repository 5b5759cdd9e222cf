internal import StoreFormat

extension PredicateCompiler {
    /// SQLite rejects expressions nested deeper than 1000, and counts `a OR b OR c` as nested twice.
    private static let maximumOfNeighbours = 8
    /// A condition nested deeper than this goes first among its neighbours, where it uses the least parser stack.
    private static let considerableNesting = 20
    /// SQLite's parser stack has 100 entries; the rest is for the statement around the condition.
    private static let maximumNesting = 75
    /// Connections reject statements longer than 1 000 000 bytes.
    private static let maximumOfBytes = 900_000

    /// Conditions joined by AND or OR.
    mutating func joined(
        _ nodes: [ResolvedNode],
        by word: String,
        empty: SQLFragment,
        _ scopes: [String]
    ) throws(FetchError) -> SQLFragment {
        guard !nodes.isEmpty else { return empty }
        var conditions: [SQLFragment] = []
        for node in nodes { conditions.append("(\(try compile(node, scopes)))") }
        let depths = conditions.map(\.nesting)
        if let deepest = depths.max(), deepest > Self.considerableNesting, let index = depths.firstIndex(of: deepest) {
            conditions.insert(conditions.remove(at: index), at: 0)
        }
        while conditions.count > Self.maximumOfNeighbours {
            conditions = stride(from: 0, to: conditions.count, by: Self.maximumOfNeighbours)
                .map { start in
                    let group = conditions[start...].prefix(Self.maximumOfNeighbours)
                    return "(\(SQLFragment.joined(Array(group), by: word)))"
                }
        }
        return .joined(conditions, by: word)
    }

    /// Throws for conditions that exceed SQLite's limits.
    static func vetted(_ fragment: SQLFragment, of entity: String) throws(FetchError) -> SQLFragment {
        guard fragment.nesting <= maximumNesting else {
            throw FetchError(
                entity: entity,
                keyPath: "",
                message: "the predicate nests too deeply for SQLite: use fewer parentheses, subqueries and chained keys"
            )
        }
        guard fragment.sql.utf8.count <= maximumOfBytes else {
            throw FetchError(
                entity: entity,
                keyPath: "",
                message: "the predicate is too long for SQLite: fetch in several steps"
            )
        }
        return fragment
    }
}
