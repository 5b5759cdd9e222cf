import StoreFormat

/// One thing that Core Data promises about its rows, keys, relationships, metadata or history, checked by itself.
///
/// A rule asks SQLite for what breaks the promise and reports it; it changes nothing and holds no rows. A rule that
/// does not apply to a store reports nothing.
protocol CoreDataRule: Sendable {
    /// Reports everything in the store that breaks the rule.
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws
}

/// The rules that make up the level `coredata`, in the order in which their findings are told.
enum CoreDataRules {
    static let all: [any CoreDataRule] = [
        MetadataRule(), ForeignWriteAheadLogRule(), ModelHashesRule(), ModelLayoutRule(), KeyMaximumRule(),
        ConcreteEntityRule(), RequiredAttributeRule(), UniquenessRule(), ToOneRule(), EntityKeyRule(),
        InverseToOneRule(), JoinTableRule(), OrderKeyRule(), ExternalReferenceRule(), HistoryRule(),
        HistoryColumnsRule(), HistoryTimeRule(),
    ]
}
