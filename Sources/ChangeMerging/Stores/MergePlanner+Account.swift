import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

extension MergePlanner {
    /// Accounts for every part of the old store: the model's objects, Core Data's own tables, and the application's
    /// other content.
    ///
    /// The latter is merged like a plain SQLite store.
    mutating func accountForStore(moved: [RekeyedObject]) throws {
        let (base, old, shared) = (sides.base, sides.old, sides.shared)
        var accountant = try MergeAccountant(
            base: base?.connection,
            old: old.connection,
            shared: shared.connection,
            monitor: monitor
        )
        accountant.claim(comparedTables, as: .merged)
        let books = old.schema.tables.map(\.name).filter(StoreSchema.isCoreDataBook)
        accountant.claim(books, as: .restated)
        let outside = OutsideTables(sides)
        accountant.claim(try outside.following(accountant.isSame, self), as: .restated)
        var planner = try PlainPlanner(
            base: base?.connection,
            old: old.connection,
            shared: shared.connection,
            moved: moved,
            settings,
            questions: questions,
            monitor,
            accountant,
            where: outside.isMerged
        )
        accountant.claim(planner.layout)
        var account = try accountant.account(policy: settings.policy.rule, externalFiles: externalFiles()) {
            outside.followsModel($0)
        }
        try enterMetadata(in: &account)
        plan.account = account
        plan.refusals += account.refusals
        plan.conflicts += account.conflicts
        unsettled += account.unsettled
        guard plan.refusals.isEmpty, !planner.layout.tables.isEmpty || !planner.layout.virtualTables.isEmpty else {
            return
        }
        let rows = try planner.planRows()
        for refusal in rows.summary.refusals {
            if case .conflicts(let count) = refusal { unsettled += count } else { plan.refusals.append(refusal) }
        }
        plan.outside = rows
    }

    /// The tables whose rows are objects, or pairs of objects, that were compared one by one.
    private var comparedTables: [String] {
        let old = sides.old
        var tables = old.roots.filter { sides.base == nil || sides.base?.table(of: $0) != nil }.compactMap(old.table)
        for relation in old.relations {
            guard case .join(let table, let first, let second) = relation.storage else { continue }
            let known = [first.column, second.column, first.orderColumn, second.orderColumn].compactMap { $0 }
            let columns = old.schema.table(named: table)?.columns.map(\.name) ?? []
            if Set(columns).isSubset(of: known) { tables.append(table) }
        }
        return tables
    }

    /// The state of the external files that both stores refer to.
    ///
    /// Core Data writes each value to a new file, so two files of one name differ only if another program changed one. The
    /// rows do not show it.
    private func externalFiles() throws -> MergeAccount.State {
        guard let own = sides.old.externalData, let there = sides.shared.externalData else { return .merged }
        let shared = try Set(sides.shared.externalFileNames(monitor))
        for name in try sides.old.externalFileNames(monitor) where shared.contains(name) {
            try monitor.checkCancellation()
            guard try own.status(of: name) != nil, try there.status(of: name) != nil else { continue }
            guard try own.holdsEqualFile(name, to: there) else { return .refused(.externalFileDiffers(name)) }
        }
        return .merged
    }

    // MARK: Metadata

    /// Metadata keys set by an application are merged like the values of one object.
    private mutating func enterMetadata(in account: inout MergeAccount) throws {
        let (former, own) = (sides.base?.metadata.values ?? [:], sides.old.metadata.values)
        let there = sides.shared.metadata.values
        let policy = settings.policy.rule
        for key in Set(former.keys).union(own.keys).sorted(by: ManagedObjectModel.inByteOrder)
        where !MetadataWriter.isReserved(key) && !StoreMerger.isOwnMetadata(key) {
            guard own[key] != there[key], sides.base == nil ? own[key] != nil : own[key] != former[key] else {
                continue
            }
            if there[key] == former[key] {
                account.metadataChanges[key] = .some(own[key])
                continue
            }
            let takesOld = policy.takesOld
            if policy == .error { account.unsettled += 1 }
            if takesOld { account.metadataChanges[key] = .some(own[key]) }
            account.conflicts.append(
                StoreMergeConflict(
                    entity: "metadata",
                    key: [],
                    property: key,
                    reason: .bothChanged,
                    base: former[key].map { _ in .present },
                    old: own[key] == nil ? .deleted : .present,
                    shared: there[key] == nil ? .deleted : .present,
                    taken: takesOld ? .old : .shared
                )
            )
        }
    }
}

/// An application's content in a Core Data store that the model does not describe.
private struct OutsideTables {
    private let sides: MergeSides
    /// The model's tables, by lower-case name.
    private let model: Set<String>
    /// The model's tables whose triggers contain a word, by that word in lower case.
    private let triggered: [String: String]
    /// False if the stores' models differ or the base is unknown: definitions then follow from the model.
    private let isOfOneModel: Bool
    /// Search indexes that a rebuild derives from other tables.
    private let indexes: Set<String>

    init(_ sides: MergeSides) {
        self.sides = sides
        var model: Set<String> = []
        for side in sides.all {
            model.formUnion(side.layout.entities.values.map { $0.table.lowercased() })
            model.formUnion(side.layout.joinTables.map { $0.name.lowercased() })
        }
        self.model = model
        var triggered: [String: String] = [:]
        for trigger in sides.shared.schema.triggers
        where model.contains(trigger.table.lowercased()) && !trigger.name.hasPrefix(StoreFence.prefix) {
            var tokens = SQLTokenizer(trigger.sql)
            while let token = tokens.next() {
                if let word = token.name { triggered[word.lowercased()] = trigger.table }
            }
        }
        self.triggered = triggered
        indexes = IndexTriggers(sides.shared.schema).indexes
        isOfOneModel =
            sides.base.map { $0.metadata.entityVersionHashes == sides.old.metadata.entityVersionHashes } ?? false
    }

    /// True for a table that is merged row by row.
    ///
    /// Tables that triggers of the model's tables write to follow the objects.
    func isMerged(_ name: String) -> Bool {
        !model.contains(name.lowercased()) && !StoreSchema.isCoreDataBook(name)
            && (!isTriggered(name) || indexes.contains(name.lowercased()))
    }

    /// True for a definition that Core Data creates from the model or for its own tables.
    func followsModel(_ entry: StoreDefinitions.Entry) -> Bool {
        if StoreSchema.isCoreDataBook(entry.table) { return true }
        guard !isOfOneModel else { return false }
        if entry.name.uppercased().hasPrefix("Z") { return true }
        return model.contains(entry.table.lowercased()) && (entry.type == "table" || entry.sql == nil)
    }

    private func isTriggered(_ name: String) -> Bool { triggered[name.lowercased()] != nil }

    private func isSpatial(_ name: String) -> Bool {
        guard case .virtual(let module)? = sides.shared.schema.table(named: name)?.kind else { return false }
        return module.hasPrefix("rtree")
    }

    /// The tables of spatial indexes that triggers maintain, and that changed only with objects.
    func following(_ isSame: (String) -> Bool, _ planner: MergePlanner) throws -> [String] {
        // On connections that do not trust the schema, such as ours, triggers can write to no other virtual tables.
        let layout = try PlainLayout(reading: sides.shared.connection) {
            isSame($0) && isTriggered($0) && isSpatial($0)
        }
        var followed: Set<String> = []
        let scan = PlainScan(
            base: sides.base?.connection,
            old: sides.old.connection,
            shared: sides.shared.connection,
            monitor: planner.monitor
        )
        for table in layout.tables where table.isVirtual {
            guard let owner = triggered[table.name.lowercased()] else { continue }
            let roots = sides.old.roots.filter { sides.old.table(of: $0)?.lowercased() == owner.lowercased() }
            let isFollowing = try scan.changes(of: table).changes
                .allSatisfy { change in
                    guard let key = change.key.values.first?.integer else { return false }
                    return roots.contains { planner.isChanged(RowKey(root: $0, key: key)) }
                }
            if isFollowing { followed.insert(table.name) }
        }
        return sides.old.schema.tables
            .filter { table in
                // The settings of an index are not rows of it.
                guard case .shadow(let owner) = table.kind, !table.name.lowercased().hasSuffix("_config") else {
                    return false
                }
                return followed.contains(owner)
            }
            .map(\.name)
    }
}

extension MergePlanner {
    /// True for an object of the old side, by its own key there, that the old side changed.
    fileprivate func isChanged(_ own: RowKey) -> Bool {
        [sides.old.keys.common(own), sides.old.keys.former(own)]
            .contains { old.inserted[$0] != nil || old.deleted[$0] != nil || old.updated[$0] != nil }
    }
}
