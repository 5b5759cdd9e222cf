package import StoreAccess
package import StoreFormat

/// The disposition of each part of the old store's content in a merge.
///
/// The parts are those of its content digest. A digest is recorded as settled only through ``SettledDigest``, which
/// requires an account of every part.
package struct MergeAccount: Hashable, Sendable {
    /// One part of a content digest.
    package enum Part: Hashable, Sendable {
        /// The rows of a table, by its name in lower case.
        case table(String)
        case definition(StoreDefinitions.Key)
        case header(String)
        /// The external files.
        case externalFiles
    }

    package enum State: Hashable, Sendable {
        /// Equal in the old store and the base.
        case unchanged
        /// Equal in both stores.
        case equal
        /// Compared row by row: the old store's changes are carried or parked.
        case merged
        /// Maintained by the shared store itself: greatest keys, history, search indexes.
        case restated
        /// Only the old store changed it; the merge copies the change.
        case carried
        /// Both stores changed it, and the policy chose a side.
        case decided
        /// The old store changed it, and a merge cannot carry the change.
        case refused(MergeRefusal)
    }

    package internal(set) var states: [Part: State] = [:]
    /// The digest of the old store's definitions that this account covers.
    let definitions: String
    /// The header fields that the merge writes to the shared store.
    package internal(set) var headerChanges: [String: Int64] = [:]
    /// The application's metadata keys that the merge writes to the shared store; nil removes a key.
    package internal(set) var metadataChanges: [String: PropertyListValue?] = [:]
    /// Definitions that only the old store has and that the merge creates.
    var created = CarriedDefinitions()
    /// The number of rows carried with them, by table.
    var createdRows: [String: Int64] = [:]
    /// Conflicts in the header and the metadata.
    package internal(set) var conflicts: [StoreMergeConflict] = []
    /// The number of these that the policy `error` leaves undecided.
    var unsettled = 0

    init(definitions: String) { self.definitions = definitions }

    /// Why the stores are not merged, in a deterministic order.
    var refusals: [MergeRefusal] {
        var found: [String: MergeRefusal] = [:]
        for case .refused(let refusal) in states.values { found[refusal.description] = refusal }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// True if only rows remain to be decided.
    var isQuiet: Bool { changesNothing && conflicts.isEmpty }

    /// True if the merge writes only rows to the shared store.
    var changesNothing: Bool { headerChanges.isEmpty && metadataChanges.isEmpty && created.entries.isEmpty }

    /// Counts changes other than rows, by the part that they belong to.
    func count(in entities: inout [String: MergeSummary.Counts]) {
        for (name, count) in [("header", headerChanges.count), ("metadata", metadataChanges.count)] where count > 0 {
            entities[name, default: MergeSummary.Counts()].updated += count
        }
        if !created.entries.isEmpty {
            entities["schema", default: MergeSummary.Counts()].inserted += created.entries.count
        }
        for (table, rows) in createdRows where rows > 0 {
            entities[table, default: MergeSummary.Counts()].inserted += Int(rows)
        }
    }

    /// Writes changes other than rows, inside the merge's transaction.
    func write(from old: StoreConnection, to connection: StoreConnection) throws {
        try created.write(from: old, to: connection)
        for (field, number) in headerChanges.sorted(by: { $0.key < $1.key }) {
            try connection.execute("PRAGMA \(field) = \(number)")
        }
    }

    /// Throws if the digest has a part that the account lacks, or that the merge cannot carry.
    fileprivate func requireWhole(_ digest: StoreDigest) throws(UnaccountedContent) {
        guard digest.schema == definitions else { throw UnaccountedContent(part: "the definitions") }
        for table in digest.tables {
            switch states[.table(table.name.lowercased())] {
            case nil, .refused: throw UnaccountedContent(part: "the table \(table.name)")
            default: continue
            }
        }
        guard digest.externalFiles == nil || states[.externalFiles] != nil else {
            throw UnaccountedContent(part: "the external files")
        }
        guard refusals.isEmpty else { throw UnaccountedContent(part: refusals[0].description) }
    }
}

/// Thrown when a part of a store's content was not compared.
///
/// This is a bug here, so the digest must not be recorded as settled.
package struct UnaccountedContent: Error, CustomStringConvertible {
    let part: String

    package init(part: String) { self.part = part }

    package var description: String { "\(part) of the old store was not compared, so nothing is recorded as merged" }
}

/// The content digest of a store that is fully accounted for: the only digest that a run records as settled.
package struct SettledDigest: Hashable, Sendable {
    package let value: String

    /// The digest of what the new store was copied from, or was compared with as a whole.
    package init(copied digest: String) { value = digest }

    /// The digest of a store that the user chose to leave outside the new store.
    package init(leftByDecision digest: String) { value = digest }

    /// The digest of a merged store; throws if the account lacks a part of it.
    ///
    /// `migrated` is the digest of the copy that was merged instead, migrated to the other store's model version.
    package init(
        _ digest: StoreDigest,
        merged account: MergeAccount,
        as migrated: StoreDigest? = nil
    ) throws(UnaccountedContent) {
        try account.requireWhole(migrated ?? digest)
        value = digest.value
    }
}
