import StoreFormat

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
