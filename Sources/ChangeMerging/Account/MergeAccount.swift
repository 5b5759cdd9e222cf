package import StoreFormat

/// What a merge makes of each part of the old store's content.
///
/// The parts are those of its content digest. A digest is recorded as settled through ``SettledDigest`` only, which asks for
/// an account that has every part of it.
package struct MergeAccount: Hashable, Sendable {
    /// One part of a content digest.
    package enum Part: Hashable, Sendable {
        /// The rows of a table, by its name in lower case.
        case table(String)
        case definition(StoreDefinitions.Key)
        case header(String)
    }

    package enum State: Hashable, Sendable {
        /// The old store has it as the base has.
        case unchanged
        /// Both stores have the same.
        case equal
        /// The merge compares it row by row: what the old store changed is carried, or parked.
        case merged
        /// The shared store keeps it by itself: greatest keys, history, search indexes.
        case restated
        /// Only the old store changed it, and the shared one gets the same.
        case carried
        /// Both stores changed it, and the policy took a side.
        case decided
        /// Nothing carries what the old store changed.
        case refused(MergeRefusal)
    }

    package internal(set) var states: [Part: State] = [:]
    /// The digest of the old store's definitions that were gone through.
    let definitions: String
    /// The header fields that the shared store gets.
    package internal(set) var headerChanges: [String: Int64] = [:]
    /// The metadata keys of an application that the shared store gets; nil for one that goes.
    package internal(set) var metadataChanges: [String: PropertyListValue?] = [:]
    /// What only the old store has defined, and the shared one gets.
    var created = CarriedDefinitions()
    /// How many rows come with it.
    var createdRows: [String: Int64] = [:]
    /// What both stores changed in the header and the metadata.
    package internal(set) var conflicts: [StoreMergeConflict] = []
    /// How many of these the policy `error` leaves open.
    var unsettled = 0

    init(definitions: String) { self.definitions = definitions }

    /// Why the stores are not merged, in an order that does not depend on chance.
    var refusals: [MergeRefusal] {
        var found: [String: MergeRefusal] = [:]
        for case .refused(let refusal) in states.values { found[refusal.description] = refusal }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// True where only rows are left to decide about.
    var isQuiet: Bool { changesNothing && conflicts.isEmpty }

    /// True where the shared store gets rows alone.
    var changesNothing: Bool { headerChanges.isEmpty && metadataChanges.isEmpty && created.entries.isEmpty }

    /// Counts what is no row, by what it belongs to.
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

    /// Writes what is no row, inside the transaction of the merge.
    func write(from old: StoreConnection, to connection: StoreConnection) throws {
        try created.write(from: old, to: connection)
        for (field, number) in headerChanges.sorted(by: { $0.key < $1.key }) {
            try connection.execute("PRAGMA \(field) = \(number)")
        }
    }

    /// Throws for a part of the content that the account does not have, and for one that nothing carries.
    fileprivate func requireWhole(_ digest: StoreDigest) throws(UnaccountedContent) {
        guard digest.schema == definitions else { throw UnaccountedContent(part: "the definitions") }
        for table in digest.tables {
            switch states[.table(table.name.lowercased())] {
            case nil, .refused: throw UnaccountedContent(part: "the table \(table.name)")
            default: continue
            }
        }
        guard refusals.isEmpty else { throw UnaccountedContent(part: refusals[0].description) }
    }
}

/// Part of a store's content was compared by nobody: a fault of ours, which must not end as a settled state.
package struct UnaccountedContent: Error, CustomStringConvertible {
    let part: String

    package init(part: String) { self.part = part }

    package var description: String { "\(part) of the old store was not compared, so nothing is recorded as merged" }
}

/// The content digest of a store of which nothing is left to compare: the only digest that a run records as settled.
package struct SettledDigest: Hashable, Sendable {
    package let value: String

    /// The digest of what the new store was copied from, or was compared with as a whole.
    package init(copied digest: String) { value = digest }

    /// The digest of a store that a person's decision leaves as it is, outside the new store.
    package init(leftByDecision digest: String) { value = digest }

    /// The digest of a store that is merged; throws where the account lacks a part of it.
    package init(_ digest: StoreDigest, merged account: MergeAccount) throws(UnaccountedContent) {
        try account.requireWhole(digest)
        value = digest.value
    }
}
