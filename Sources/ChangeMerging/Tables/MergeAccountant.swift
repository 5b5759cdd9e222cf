import CSQLite
import SafeFiles
import StoreAccess
import StoreWriting

/// Accounts for every part of the old store's content and decides what the merge does with it.
///
/// Code that compares the rows of tables claims those tables. An unclaimed part is compared whole: with the base, then
/// with the shared store.
struct MergeAccountant {
    private let base: StoreConnection?
    private let old: StoreConnection
    private let shared: StoreConnection
    private let monitor: WorkMonitor
    private let definitions: (base: StoreDefinitions?, old: StoreDefinitions, shared: StoreDefinitions)
    private let schema: StoreSchema
    /// Tables of the old store, by lower-case name, that are compared row by row or kept by the shared store itself.
    private var claims: [String: MergeAccount.State] = [:]

    init(base: StoreConnection?, old: StoreConnection, shared: StoreConnection, monitor: WorkMonitor) throws {
        (self.base, self.old, self.shared, self.monitor) = (base, old, shared, monitor)
        definitions = try (
            base.map { try StoreDefinitions(reading: $0) }, StoreDefinitions(reading: old),
            StoreDefinitions(reading: shared)
        )
        schema = try StoreSchema(reading: old)
    }

    /// True if all stores define the table in the same way, so that its rows have the same meaning in each.
    func isSame(table name: String) -> Bool {
        guard let entry = definitions.shared[table: name], entry.digest == definitions.old[table: name]?.digest else {
            return false
        }
        guard let base = definitions.base else { return true }
        return entry.digest == base[table: name]?.digest
    }

    mutating func claim(_ tables: some Sequence<String>, as state: MergeAccount.State) {
        for table in tables { claims[table.lowercased()] = state }
    }

    /// Claims the tables that the merge of a layout compares, and those that follow from their rows.
    mutating func claim(_ layout: PlainLayout, follows: (PlainTable) -> Bool = { _ in false }) {
        for table in layout.tables {
            claim([table.name, table.source], as: .merged)
            if table.isVirtual { claimShadows(of: table.name, as: follows(table) ? .restated : .merged) }
            if table.isAutoincrement { claim(["sqlite_sequence"], as: .merged) }
        }
        for (name, kind) in layout.virtualTables {
            if case .rebuilt = kind { claimShadows(of: name, as: .restated) }
        }
    }

    /// The settings of a search index are not rows of the index, and are compared whole.
    private mutating func claimShadows(of name: String, as state: MergeAccount.State) {
        for table in schema.tables {
            guard case .shadow(let owner) = table.kind, owner.lowercased() == name.lowercased() else { continue }
            if !table.name.lowercased().hasSuffix("_config") { claim([table.name], as: state) }
        }
    }

    /// Returns the account; `isModels` is true for definitions that follow from the stores' models and are compared as
    /// such.
    ///
    /// Only Core Data stores have external files.
    func account(
        policy: MergePolicy,
        externalFiles: MergeAccount.State = .unchanged,
        isModels: (StoreDefinitions.Entry) -> Bool = { _ in false }
    ) throws -> MergeAccount {
        var account = MergeAccount(definitions: definitions.old.digest)
        try enterDefinitions(in: &account, isModels)
        enterHeader(in: &account, policy)
        account.states[.externalFiles] = externalFiles
        for table in schema.tables where StoreDigest.covers(table) {
            let name = table.name.lowercased()
            account.states[.table(name)] = try claims[name] ?? state(of: table, account)
        }
        return account
    }

    // MARK: Definitions

    private func enterDefinitions(
        in account: inout MergeAccount,
        _ isModels: (StoreDefinitions.Entry) -> Bool
    ) throws {
        for (key, state) in definitionStates(isModels) { account.states[.definition(key)] = state }
        guard let former = definitions.base else { return }
        let late = definitions.old.entries.filter { key, entry in
            guard case .refused? = account.states[.definition(key)] else { return false }
            return former.entries[key] == nil && isFree(entry)
        }
        // Tables come first: their indexes and triggers come with them.
        for isTable in [true, false] {
            for (key, entry) in late where (entry.type == "table") == isTable && canCarry(entry, account) {
                account.states[.definition(key)] = .carried
                if entry.sql != nil { account.created.add(entry) }
                guard isTable else { continue }
                let count = "SELECT sum(1) FROM \(SQLName.quoted(entry.name)) NOT INDEXED"
                account.createdRows[entry.name] = try old.value(count)?.integer ?? 0
            }
        }
    }

    /// True if the shared store has no definition of that name.
    private func isFree(_ entry: StoreDefinitions.Entry) -> Bool {
        guard entry.type != "trigger" else { return definitions.shared.entries[entry.key] == nil }
        return !definitions.shared.entries.keys.contains { !$0.isTrigger && $0.name == entry.key.name }
    }

    /// True if a definition has the same meaning in the shared store as in the old one.
    private func canCarry(_ entry: StoreDefinitions.Entry, _ account: MergeAccount) -> Bool {
        switch entry.type {
        case "table":
            switch schema.table(named: entry.name)?.kind {
            case .ordinary, .withoutRowID: return true
            default: return false
            }
        case "view": return true
        default:
            if account.created.contains(table: entry.table) { return true }
            let table = schema.table(named: entry.table)
            // Rows of the shared store may violate the uniqueness that the index would require.
            let isUnique = table?.indexes.contains { $0.name == entry.name && $0.isUnique } == true
            return table?.holdsRows == true && !isUnique && isSame(table: entry.table)
        }
    }

    private func definitionStates(
        _ isModels: (StoreDefinitions.Entry) -> Bool
    ) -> [StoreDefinitions.Key: MergeAccount.State] {
        var result: [StoreDefinitions.Key: MergeAccount.State] = [:]
        let former = definitions.base?.entries ?? [:]
        for key in Set(definitions.old.entries.keys).union(former.keys) {
            let (own, there) = (definitions.old.entries[key], definitions.shared.entries[key])
            if definitions.base != nil, own?.digest == former[key]?.digest {
                result[key] = .unchanged
            } else if own?.digest == there?.digest {
                result[key] = .equal
            } else if let entry = own ?? former[key] {
                result[key] =
                    isModels(entry) ? .restated : .refused(refusal(of: entry, isInBoth: own != nil && there != nil))
            }
        }
        return result
    }

    private func refusal(of entry: StoreDefinitions.Entry, isInBoth: Bool) -> MergeRefusal {
        // A definition that a constraint or a virtual table created is decided with its owning table.
        let owner: String =
            if case .shadow(let owner)? = schema.table(named: entry.name)?.kind { owner } else { entry.table }
        if isInBoth, entry.type == "table", owner == entry.name, schema.table(named: owner)?.holdsRows == true {
            return .definitionsDiffer(table: owner, changed: .old)
        }
        if isInBoth { return .modelsDiffer(entity: owner, property: owner == entry.name ? nil : entry.name) }
        if entry.sql == nil || owner != entry.table { return .notCarried("the table \(owner)") }
        return .notCarried("the \(entry.type) \(entry.name)")
    }

    // MARK: Header

    private func enterHeader(in account: inout MergeAccount, _ policy: MergePolicy) {
        for field in StoreDefinitions.headerFields {
            let own = definitions.old.header[field]
            let (former, there) = (definitions.base?.header[field], definitions.shared.header[field])
            let state: MergeAccount.State
            if definitions.base != nil, own == former {
                state = .unchanged
            } else if own == there {
                state = .equal
            } else if case .integer(let own)? = own, case .integer(let there)? = there {
                state = decide(field, former?.integer, own, there, policy, in: &account)
            } else {
                state = .refused(.notCarried("the header field \(field)"))
            }
            account.states[.header(field)] = state
        }
    }

    /// Without a base each store fills in fields that the other never set.
    private func decide(
        _ field: String,
        _ former: Int64?,
        _ own: Int64,
        _ there: Int64,
        _ policy: MergePolicy,
        in account: inout MergeAccount
    ) -> MergeAccount.State {
        if there == former ?? 0 {
            account.headerChanges[field] = own
            return .carried
        }
        if definitions.base == nil, own == 0 { return .unchanged }
        let takesOld = policy.takesOld
        if policy == .error { account.unsettled += 1 }
        if takesOld { account.headerChanges[field] = own }
        account.conflicts.append(
            StoreMergeConflict(
                entity: "header",
                key: [],
                property: field,
                reason: .bothChanged,
                base: former.map { .init(.integer($0)) },
                old: .init(.integer(own)),
                shared: .init(.integer(there)),
                taken: takesOld ? .old : .shared
            )
        )
        return .decided
    }

    // MARK: Rows

    /// Decides a table whose rows are not compared one by one.
    private func state(of table: StoreSchema.Table, _ account: MergeAccount) throws -> MergeAccount.State {
        let own = try StoreDigest.digest(of: table, in: old, monitor: monitor)
        if let base {
            if try digest(of: table.name, in: base) == own { return .unchanged }
        } else if try isEmpty(table, own) {
            return .unchanged
        }
        if try digest(of: table.name, in: shared) == own { return .equal }
        let entry = definitions.old[table: table.name]
        if account.created.contains(table: table.name) { return .carried }
        if table.name.lowercased() == "sqlite_sequence", account.created.holdsAutoincrement { return .carried }
        if let entry, case .refused(let refusal)? = account.states[.definition(entry.key)] { return .refused(refusal) }
        guard case .shadow(let owner) = table.kind else {
            if let entry, let there = definitions.shared[table: table.name], entry.digest != there.digest {
                return .refused(.definitionsDiffer(table: table.name, changed: .shared))
            }
            return .refused(.notCarried("the content of the table \(table.name)"))
        }
        return .refused(.notCarried("the content of the virtual table \(owner)"))
    }

    private func digest(of name: String, in connection: StoreConnection) throws -> StoreDigest.Table? {
        guard let table = try StoreSchema(reading: connection).table(named: name), table.holdsRows else { return nil }
        return try StoreDigest.digest(of: table, in: connection, monitor: monitor)
    }

    /// A search index has rows even before it has any text.
    private func isEmpty(_ table: StoreSchema.Table, _ digest: StoreDigest.Table) throws -> Bool {
        guard digest.rows > 0, case .shadow(let owner) = table.kind else { return digest.rows == 0 }
        guard let sizes = schema.table(named: owner + "_docsize") else { return false }
        return try old.value("SELECT 1 FROM \(SQLName.quoted(sizes.name)) LIMIT 1") == nil
    }
}

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
