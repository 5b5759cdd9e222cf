import StoreAccess

/// Collects findings of one level; of equal findings about rows of one table it lists the first and counts the rest.
struct FindingList {
    private struct Topic: Hashable {
        let code: Finding.Code
        let table: String?
        let message: String
    }

    /// How many findings of one kind are listed for one table.
    static let limit = 20

    private let level: VerificationLevel
    private var listed: [Finding] = []
    private var counts: [Topic: Int64] = [:]
    private var overflowing: [(topic: Topic, severity: Finding.Severity, entity: String?)] = []

    init(level: VerificationLevel) {
        self.level = level
    }

    mutating func report(
        _ code: Finding.Code,
        _ severity: Finding.Severity,
        _ message: String,
        path: String? = nil,
        entity: String? = nil,
        table: String? = nil,
        key: Int64? = nil
    ) {
        let topic = Topic(code: code, table: table, message: message)
        let count = counts[topic, default: 0] + 1
        counts[topic] = count
        if count <= Int64(Self.limit) {
            listed.append(
                Finding(
                    code,
                    severity,
                    level: level,
                    message,
                    path: path,
                    entity: entity,
                    table: table,
                    key: key
                )
            )
        } else if count == Int64(Self.limit) + 1 {
            overflowing.append((topic, severity, entity))
        }
    }

    /// The findings, with one more for every kind of which not all are listed.
    var findings: [Finding] {
        listed
            + overflowing.map { entry in
                let rest = (counts[entry.topic] ?? 0) - Int64(Self.limit)
                return Finding(
                    entry.topic.code,
                    entry.severity,
                    level: level,
                    "\(entry.topic.message); the same holds for \(rest) more rows of this table",
                    entity: entry.entity,
                    table: entry.topic.table
                )
            }
    }
}

/// One invariant of Core Data's rows, keys, relationships, metadata or history.
///
/// A rule queries SQLite for violations and reports them; it changes nothing and keeps no rows in memory. A rule that does
/// not apply to a store reports nothing.
protocol CoreDataRule: Sendable {
    /// Reports every violation in the store.
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws
}

/// The rules of the level `coredata`, in the order of their findings.
enum CoreDataRules {
    static let all: [any CoreDataRule] = [
        MetadataRule(), ForeignWriteAheadLogRule(), ModelHashesRule(), ModelLayoutRule(), KeyMaximumRule(),
        ConcreteEntityRule(), RequiredAttributeRule(), UniquenessRule(), ToOneRule(), EntityKeyRule(),
        InverseToOneRule(), JoinTableRule(), OrderKeyRule(), ExternalReferenceRule(), HistoryRule(),
        HistoryColumnsRule(), HistoryTimeRule(),
    ]
}
