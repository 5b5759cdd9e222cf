package import StoreAccess

/// The numbers of a store's entities: the rows of `Z_PRIMARYKEY`.
///
/// Numbers change when Core Data migrates a store, so permanent records must use names.
package struct EntityNumbers: Hashable, Sendable {
    /// One row.
    package struct Entry: Hashable, Sendable {
        package let number: Int64
        package let name: String
        /// The parent's number; 0 for a root.
        package let parent: Int64
        /// The last primary key assigned; kept for roots only.
        package let max: Int64

        package init(number: Int64, name: String, parent: Int64 = 0, max: Int64 = 0) {
            self.number = number
            self.name = name
            self.parent = parent
            self.max = max
        }

        /// True for an entity of the model; numbers from 16001 on belong to history and the CloudKit mirror.
        package var isOfModel: Bool { number < 16_000 }

        func named(_ name: String) -> Entry { Entry(number: number, name: name, parent: parent, max: max) }
    }

    /// All rows in the order of their numbers.
    package let entries: [Entry]
    private let positions: [Int64: Int]
    private let numbers: [String: Int64]
    private let children: [Int64: [Int64]]

    package init(_ entries: [Entry]) {
        self.entries = entries.sorted { $0.number < $1.number }
        positions = Dictionary(
            self.entries.enumerated().map { ($0.element.number, $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
        numbers = Dictionary(self.entries.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        children = Dictionary(grouping: self.entries.filter { $0.parent != 0 }, by: \.parent)
            .mapValues { $0.map(\.number) }
    }

    /// Reads the table; nil if the store has none.
    ///
    /// Rows without a name or a positive number are omitted.
    package init?(reading connection: StoreConnection) throws {
        var columns: Set<String> = []
        try connection.forEachRow("SELECT lower(name) FROM pragma_table_info('Z_PRIMARYKEY')") { row in
            columns.insert(row.text(0) ?? "")
        }
        guard columns.isSuperset(of: ["z_ent", "z_name", "z_super", "z_max"]) else { return nil }
        var entries: [Entry] = []
        try connection.forEachRow("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") { row in
            guard row.type(0) == .integer, row.integer(0) > 0, let name = row.text(1) else { return }
            entries.append(Entry(number: row.integer(0), name: name, parent: row.integer(2), max: row.integer(3)))
        }
        self.init(entries)
    }

    /// The entries of the model's own entities, in the order of their numbers.
    package var modelEntries: [Entry] { entries.filter(\.isOfModel) }

    /// The entries without a parent, those of history and mirror included.
    package var roots: [Entry] { entries.filter { $0.parent == 0 } }

    package func entry(_ number: Int64) -> Entry? {
        positions[number].map { entries[$0] }
    }

    package func number(of name: String) -> Int64? { numbers[name] }

    /// The number of the root entity, whose table contains this entity's objects; nil for unknown numbers and in a
    /// cycle.
    package func root(of number: Int64) -> Int64? {
        var seen: Set<Int64> = []
        var next = number
        while let entry = entry(next), seen.insert(next).inserted {
            if entry.parent == 0 { return next }
            next = entry.parent
        }
        return nil
    }

    /// The number itself and those of all entities that inherit from it, parents before children.
    package func subtree(of number: Int64) -> [Int64] {
        guard positions[number] != nil else { return [] }
        var result: [Int64] = []
        var seen: Set<Int64> = []
        var pending = [number]
        while let next = pending.popLast() {
            guard seen.insert(next).inserted else { continue }
            result.append(next)
            pending.append(contentsOf: (children[next] ?? []).reversed())
        }
        return result
    }

    package func hasSubentities(_ number: Int64) -> Bool { children[number] != nil }

    // MARK: Renamed entities

    /// The same numbers under the names of a model.
    ///
    /// Core Data's in-place migration may leave a renamed entity's number under the former name. An entity without a number
    /// takes that of its renaming identifier. With `guessing`, for a model that is known to be the store's, it takes else that
    /// of the only unknown name at its place in the inheritance.
    package func named(by model: ManagedObjectModel, guessing: Bool = true) -> EntityNumbers {
        let unnumbered = model.entitiesByName.values.filter { numbers[$0.name] == nil }
        guard !unnumbered.isEmpty else { return self }
        let unknown = modelEntries.filter { model.entitiesByName[$0.name] == nil }
        let byFormerName = Dictionary(grouping: unnumbered, by: \.canonicalName).compactMapValues { $0.first?.name }
        var names: [Int64: String] = [:]
        var given: Set<String> = []
        for entry in unknown {
            if let name = byFormerName[entry.name], given.insert(name).inserted { names[entry.number] = name }
        }
        if guessing {
            let nameless = unnumbered.filter { !given.contains($0.name) }
            let candidates = Dictionary(grouping: nameless) { $0.superentity ?? "" }
            let places = Dictionary(grouping: unknown.filter { names[$0.number] == nil }, by: \.parent)
            // Parents before children: their superentity may be renamed, too.
            for number in roots.flatMap({ subtree(of: $0.number) }) {
                guard let entry = entry(number), let place = places[entry.parent], place == [entry] else { continue }
                let superentity = entry.parent == 0 ? "" : names[entry.parent] ?? self.entry(entry.parent)?.name
                guard let found = superentity.flatMap({ candidates[$0] }), found.count == 1 else { continue }
                names[number] = found[0].name
            }
        }
        return EntityNumbers(entries.map { entry in names[entry.number].map(entry.named) ?? entry })
    }
}
