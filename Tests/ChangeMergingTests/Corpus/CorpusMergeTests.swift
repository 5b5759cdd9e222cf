import ChangeMerging
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@Suite("Merging genuine stores", .genuineStores)
struct CorpusMergeTests {
    /// The stores that contain a model.
    static let stores = Corpus.stores.filter { store in
        guard let scratch = try? ScratchFolder(), let location = try? Corpus.copy(store, into: scratch),
            let connection = try? StoreConnection(location, access: .liveReading),
            let layout = try? StoreLayout(reading: connection)
        else { return false }
        return !layout.entities.isEmpty
    }

    @Test("There are genuine stores to merge")
    func present() { #expect(Self.stores.count > 15) }

    @Test(
        "Randomly edited copies merge as the model of a merge predicts, without a new finding, and only once",
        arguments: stores,
        [true, false]
    )
    func merge(_ store: String, _ isPlain: Bool) throws {
        let triple = try GenuineTriple(store)
        var generator = SeededGenerator(
            seed: Seed.current &+ UInt64(store.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xffff)
        )
        if isPlain {
            try Self.editPlainly(triple.old)
        } else {
            try GenuineTriple.edit(triple.old, as: 1, &generator)
        }
        try GenuineTriple.edit(triple.shared, as: 2, &generator)

        let places = (
            base: try triple.place(triple.base, .liveReading), old: try triple.place(triple.old, .liveReading),
            shared: try triple.place(triple.shared, .liveWriting)
        )
        let (base, old, shared) = (try Self.side(places.base), try Self.side(places.old), try Self.side(places.shared))
        var greatest: [String: (shared: Int64, old: Int64)] = [:]
        for root in shared.roots { greatest[root] = (try shared.greatestKey(of: root), try old.greatestKey(of: root)) }
        let shape = PlainShape(shared.layout.model)
        let spoken = PlainGraph.spoken(try Self.graph(base, shape), try Self.graph(old, shape), moved: [:])
        let expected = PlainGraph.merged(
            spoken.base,
            spoken.old,
            try Self.graph(shared, shape),
            prefersOld: false,
            greatest: greatest
        )
        let before = try Self.findings(places.shared)
        func plan() throws -> any PlannedMerge {
            try StoreMerger(
                base: places.base,
                old: places.old,
                shared: places.shared,
                settings: MergeSettings(source: isPlain ? .scan : .automatic)
            )
            .plan()
        }
        let planned = try plan()
        #expect(planned.summary.refusals == [])
        #expect(!planned.summary.isIdle || isPlain, "nothing was edited")
        let run = MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60)))
        let result = try planned.carryOut(run)
        let found = try Self.graph(shared, shape)
        let differing = Set(found.objects.keys).union(expected.objects.keys)
            .filter { found.objects[$0] != expected.objects[$0] }
        #expect(differing.isEmpty, "\(planned.summary)")
        #expect(found.pairs == expected.pairs)
        let after = try Self.findings(places.shared)
        #expect(after.subtracting(before) == [])
        #expect(try plan().carryOut(run).outcome == (result.outcome == .merged ? .alreadyDone : .nothingToDo))
    }

    @Test(
        "After a merge, the history since a token of either store lists all differences",
        arguments: stores
    )
    func tokens(_ store: String) throws {
        let triple = try GenuineTriple(store)
        var generator = SeededGenerator(seed: Seed.current)
        try GenuineTriple.edit(triple.base, as: 0, &generator)
        // The base and its copies keep a history.
        let copies = [try ScratchFolder(), try ScratchFolder()]
        let old = try Self.copy(triple.base, to: copies[0])
        let shared = try Self.copy(triple.base, to: copies[1])
        try GenuineTriple.edit(old, as: 1, &generator)
        try GenuineTriple.edit(shared, as: 2, &generator)
        let tokens = [try Self.token(old), try Self.token(shared)]
        let sides = [
            try Self.side(triple.place(old, .liveReading)), try Self.side(triple.place(shared, .liveReading)),
        ]
        let shape = PlainShape(sides[1].layout.model)
        let former = try sides.map { try Self.graph($0, shape) }
        let place = try triple.place(shared, .liveWriting)
        let planned = try StoreMerger(
            base: triple.place(triple.base, .liveReading),
            old: triple.place(old, .liveReading),
            shared: place
        )
        .plan()
        _ = try planned.carryOut(MergeRun(epoch: "1", deadline: Deadline(after: .seconds(60))))
        let merged = try Self.graph(sides[1], shape)
        let layout = sides[1].layout
        for (token, graph) in zip(tokens, former) {
            var listed: Set<PlainGraph.Key> = []
            let coordinator = PersistentStoreCoordinator()
            var description = PersistentStoreDescription(url: shared.url)
            description.isHistoryTrackingEnabled = true
            try coordinator.addPersistentStore(with: description)
            for transaction in try coordinator.fetchHistory(after: token) {
                for change in transaction.changes {
                    let uri = try ObjectURI(change.changedObjectID.uriRepresentation())
                    let root = layout.entities[uri.entity]?.root ?? ""
                    listed.insert(PlainGraph.Key(root: root, number: uri.primaryKey))
                }
            }
            let changed = Set(graph.objects.keys).union(merged.objects.keys)
                .filter { graph.objects[$0] != merged.objects[$0] }
            #expect(changed.subtracting(listed).isEmpty)
        }
    }

    // MARK: Stores

    private static func side(_ place: MergePlace) throws -> MergeSide {
        try MergeSide(place.connection, externalData: place.externalData)
    }

    private static func graph(_ side: MergeSide, _ shape: PlainShape) throws -> PlainGraph {
        var graph = try PlainGraph(side.connection, side.layout, side, shape)
        // Genuine stores contain some dangling pairs.
        graph.pairs = graph.pairs.filter { graph.objects[$0.owner] != nil && graph.objects[$0.member] != nil }
        return graph
    }

    private static func findings(_ place: MergePlace) throws -> Set<String> {
        let findings = try StoreVerifier()
            .findings(
                in: place.connection,
                location: place.connection.location,
                externalData: place.externalData,
                level: .coredata
            )
        // The same finding may concern another row of the table after the merge.
        return Set(findings.map { "\($0.code) \($0.table ?? "") \($0.entity ?? "")" })
    }

    private static func copy(_ store: StoreLocation, to scratch: ScratchFolder) throws -> StoreLocation {
        let source = try Directory.open(path: store.folder)
        for name in try source.entries() {
            guard try source.status(of: name)?.kind == .regular, !name.hasSuffix("-shm") else { continue }
            try scratch.write(name, source.contents(of: name, limit: 1 << 30))
        }
        let location = scratch.location(store.name)
        guard let files = try ExternalData.open(of: store, in: source) else { return location }
        let support = try scratch.directory.createDirectory(location.supportFolderName, mode: 0o755)
        let folder = try support.createDirectory(StoreLocation.externalDataFolderName, mode: 0o755)
        for name in try files.entries() {
            let file = try folder.createFile(name, mode: 0o644)
            try files.contents(of: name, limit: 1 << 30).withUnsafeBytes { try file.write($0, at: 0) }
            try file.close()
        }
        return location
    }

    private static func token(_ location: StoreLocation) throws -> PersistentHistoryToken {
        var description = PersistentStoreDescription(url: location.url)
        description.isHistoryTrackingEnabled = true
        let coordinator = PersistentStoreCoordinator()
        let store = try coordinator.addPersistentStore(with: description)
        defer { coordinator.remove(store) }
        return try coordinator.currentPersistentHistoryToken()
    }

    /// Edits with SQL alone, which updates neither versions nor history: changes a value in each table and deletes a
    /// row.
    private static func editPlainly(_ location: StoreLocation) throws {
        let connection = try StoreConnection(location, access: .liveWriting)
        guard let layout = try StoreLayout(reading: connection) else { return }
        let hasTriggers = Set(try StoreSchema(reading: connection).triggers.map { $0.table.lowercased() })
        for entity in layout.entities.values.sorted(by: { $0.number < $1.number })
        where !hasTriggers.contains(entity.table.lowercased()) {
            let table = SQLName.quoted(entity.table)
            if let text = entity.attributes.first(where: { $0.description.type == .string && !$0.description.isDerived }
            ) {
                try connection.run(
                    "UPDATE \(table) SET \(SQLName.quoted(text.column)) = ? "
                        + "WHERE Z_PK = (SELECT min(Z_PK) FROM \(table) WHERE Z_ENT = ?)",
                    [.text("by hand \(entity.name)"), .integer(entity.number)]
                )
            }
            guard entity.relationships.isEmpty else { continue }
            try connection.run(
                "DELETE FROM \(table) WHERE Z_PK = (SELECT max(Z_PK) FROM \(table) WHERE Z_ENT = ?)",
                [.integer(entity.number)]
            )
        }
    }
}
