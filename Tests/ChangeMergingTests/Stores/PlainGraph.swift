import ChangeMerging
import StoreAccess
import StoreFormat
import StoreWriting

/// A store's objects in plain dictionaries, and a merge of three such graphs, written independently of the real one.
struct PlainGraph {
    struct Key: Hashable {
        let root: String
        let number: Int64
    }

    struct Object: Equatable {
        var entity: String
        var values: [String: SQLValue]
    }

    struct Pair: Hashable {
        let relation: Int
        let owner: Key
        let member: Key
    }

    var objects: [Key: Object] = [:]
    var pairs: Set<Pair> = []

    /// The relationships of the stores' model.
    let shape: PlainShape

    init(_ shape: PlainShape) { self.shape = shape }

    /// Reads a whole store: one query for the rows of each table, one for the pairs of each relationship.
    init(_ store: MergeStore, _ shape: PlainShape = RandomGraph.shape) throws {
        try self.init(store.connection, store.writer.layout, store.side(), shape)
    }

    init(_ connection: StoreConnection, _ layout: StoreLayout, _ side: MergeSide, _ shape: PlainShape) throws {
        self.shape = shape
        for entity in layout.entities.values {
            let attributes = entity.attributes.filter { !$0.description.isDerived }
            let columns = (["Z_PK"] + attributes.map { SQLName.quoted($0.column) }).joined(separator: ", ")
            try connection.forEachRow(
                "SELECT \(columns) FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = \(entity.number)"
            ) { row in
                var values: [String: SQLValue] = [:]
                for (index, attribute) in attributes.enumerated() {
                    values[attribute.description.name] = try side.plain(row.value(index + 1), of: attribute.description)
                }
                let key = Key(root: entity.root, number: row.integer(0))
                objects[key] = Object(entity: entity.name, values: values)
            }
        }
        for (index, relation) in shape.relations.enumerated() {
            guard let place = layout.entities[relation.owner]?.relationship(relation.name),
                let owner = layout.entities[relation.owner]?.root, let member = layout.entities[relation.member]?.root
            else { continue }
            try connection.forEachRow(Self.query(place, layout)) { row in
                let pair = shape.pair(
                    index,
                    Key(root: owner, number: row.integer(0)),
                    Key(root: member, number: row.integer(1))
                )
                pairs.insert(pair)
            }
        }
    }

    /// The owners and members of a relationship; members in their order.
    static func query(_ place: StoreLayout.Relationship, _ layout: StoreLayout) -> String {
        switch place.storage {
        case .toOne(let key):
            let table = SQLName.quoted(layout.entities[place.declaredBy]?.table ?? "")
            return "SELECT Z_PK, \(key.column) FROM \(table) WHERE \(key.column) NOT NULL"
        case .oneToMany(let table, let key):
            let order = key.orderColumn.map { ", " + $0 } ?? ""
            return
                "SELECT \(key.column), Z_PK FROM \(table) WHERE \(key.column) NOT NULL ORDER BY \(key.column)\(order)"
        case .manyToMany(let table, let owner, let other):
            let order = owner.orderColumn.map { ", " + $0 } ?? ""
            return "SELECT \(owner.column), \(other.column) FROM \(table) ORDER BY \(owner.column)\(order)"
        }
    }
}

extension PlainGraph {
    /// A single end of a relationship, which has at most one pair.
    private struct Place: Hashable {
        let relation: Int
        let isOwner: Bool
        let key: Key
    }

    private func places(_ pair: Pair) -> [Place] {
        let relation = shape.relations[pair.relation]
        return (relation.ownerIsSingle ? [Place(relation: pair.relation, isOwner: true, key: pair.owner)] : [])
            + (relation.memberIsSingle ? [Place(relation: pair.relation, isOwner: false, key: pair.member)] : [])
    }

    /// The same graph with other keys.
    func renamed(_ name: (Key) -> Key) -> PlainGraph {
        var result = PlainGraph(shape)
        for (key, object) in objects { result.objects[name(key)] = object }
        for pair in pairs { result.pairs.insert(shape.pair(pair.relation, name(pair.owner), name(pair.member))) }
        return result
    }

    /// The graph of a base or an old store in the shared store's keys; objects of the old store alone have negative
    /// keys.
    static func spoken(
        _ base: PlainGraph,
        _ old: PlainGraph,
        moved: [Key: Int64]
    ) -> (base: PlainGraph, old: PlainGraph) {
        func former(_ key: Key) -> Key { moved[key].map { Key(root: key.root, number: $0) } ?? key }
        return (
            base.renamed(former),
            old.renamed { base.objects[$0] == nil ? Key(root: $0.root, number: -$0.number) : former($0) }
        )
    }

    /// The expected content of the merged store; `greatest` is the greatest key assigned by the shared and the old
    /// store, by root.
    ///
    /// Base and old store are results of ``spoken(_:_:moved:)``, in the shared store's keys.
    static func merged(
        _ base: PlainGraph,
        _ old: PlainGraph,
        _ shared: PlainGraph,
        prefersOld: Bool,
        greatest: [String: (shared: Int64, old: Int64)]
    ) -> PlainGraph {
        let shape = base.shape
        let goneFromOld = Set(base.objects.keys.filter { old.objects[$0] == nil })
        let goneFromShared = Set(base.objects.keys.filter { shared.objects[$0] == nil })
        let kept = survivors(of: goneFromOld.subtracting(goneFromShared), in: shared, base)
        let restored = survivors(of: goneFromShared.subtracting(goneFromOld), in: old, base)

        // Keys.
        var next = greatest.mapValues { max($0.shared, $0.old) }
        var renamed: [Key: Key] = [:]
        let arrived = old.objects.keys.filter { base.objects[$0] == nil }
            .sorted { ($0.root, -$0.number) < ($1.root, -$1.number) }
        for key in arrived {
            renamed[key] = Key(root: key.root, number: -key.number)
            guard -key.number <= greatest[key.root]?.shared ?? 0 else { continue }
            next[key.root, default: 0] += 1
            renamed[key] = Key(root: key.root, number: next[key.root] ?? 0)
        }
        func name(_ key: Key) -> Key { renamed[key] ?? key }

        // Objects and their values.
        var result = PlainGraph(shape)
        result.objects = shared.objects.filter { !goneFromOld.contains($0.key) || kept.contains($0.key) }
        for key in arrived { result.objects[name(key)] = old.objects[key] }
        for key in restored { result.objects[key] = old.objects[key] }
        for (key, was) in base.objects {
            guard let here = old.objects[key], let there = shared.objects[key] else { continue }
            for (attribute, value) in here.values where value != was.values[attribute] {
                if there.values[attribute] == was.values[attribute] || prefersOld {
                    result.objects[key]?.values[attribute] = value
                }
            }
        }

        // Pairs.
        func touches(_ pair: Pair, _ keys: Set<Key>) -> Bool { keys.contains(pair.owner) || keys.contains(pair.member) }
        let given = Set(
            old.pairs.subtracting(base.pairs).map { shape.pair($0.relation, name($0.owner), name($0.member)) }
        )
        let taken = base.pairs.subtracting(old.pairs)
        let sharedGiven = shared.pairs.subtracting(base.pairs)
        let sharedTaken = base.pairs.subtracting(shared.pairs)
        func changes(_ given: Set<Pair>, _ taken: Set<Pair>, _ gone: Set<Key>) -> [Place: Pair?] {
            var found: [Place: Pair?] = [:]
            for pair in taken where !touches(pair, gone) {
                for place in base.places(pair) { found[place] = .some(nil) }
            }
            for pair in given { for place in base.places(pair) { found[place] = .some(pair) } }
            return found
        }
        let oldPlaces = changes(given, taken, goneFromOld)
        let sharedPlaces = changes(sharedGiven, sharedTaken, goneFromShared)

        result.pairs = shared.pairs
        result.pairs.subtract(taken.filter { !touches($0, kept) })
        var rejected: Set<Pair> = []
        for (place, mine) in oldPlaces {
            guard let theirs = sharedPlaces[place], theirs != mine, result.objects[place.key] != nil else { continue }
            if !prefersOld {
                if let mine { rejected.insert(mine) }
            } else if let theirs {
                let stands = mine.map { result.objects[$0.owner] != nil && result.objects[$0.member] != nil } ?? true
                if stands { result.pairs.remove(theirs) }
            }
        }
        var held: [Place: Pair] = [:]
        for pair in result.pairs { for place in base.places(pair) { held[place] = pair } }
        for pair in given.subtracting(rejected).subtracting(shared.pairs)
        where result.objects[pair.owner] != nil && result.objects[pair.member] != nil {
            for place in base.places(pair) {
                if let other = held[place] { result.pairs.remove(other) }
                held[place] = pair
            }
            result.pairs.insert(pair)
        }
        for pair in old.pairs.intersection(base.pairs) where touches(pair, restored) {
            guard base.places(pair).allSatisfy({ sharedPlaces[$0] == nil && oldPlaces[$0] == nil }) else { continue }
            result.pairs.insert(pair)
        }
        let objects = result.objects
        result.pairs = result.pairs.filter { objects[$0.owner] != nil && objects[$0.member] != nil }
        return result
    }

    /// The deleted objects that survive because the other side changed them.
    private static func survivors(of deleted: Set<Key>, in side: PlainGraph, _ base: PlainGraph) -> Set<Key> {
        let new = side.pairs.subtracting(base.pairs)
        var result = deleted.filter { key in
            side.objects[key]?.values != base.objects[key]?.values
                || new.contains { $0.owner == key || $0.member == key }
        }
        while true {
            let more = base.pairs.flatMap { pair in
                let relation = base.shape.relations[pair.relation]
                return (relation.memberTakesOwner && result.contains(pair.member) ? [pair.owner] : [])
                    + (relation.ownerTakesMember && result.contains(pair.owner) ? [pair.member] : [])
            }
            let needed = side.pairs.flatMap { pair in
                let relation = base.shape.relations[pair.relation]
                return (relation.ownerNeedsMember && result.contains(pair.owner) ? [pair.member] : [])
                    + (relation.memberNeedsOwner && result.contains(pair.member) ? [pair.owner] : [])
            }
            let found = (more + needed).filter { deleted.contains($0) && !result.contains($0) }
            if found.isEmpty { return result }
            result.formUnion(found)
        }
    }
}
