import ChangeMerging
import StoreFormat
import StoreWriting

/// A store's objects in plain dictionaries, and a merge of three of them written without a look at the real one.
struct PlainGraph: Equatable {
    /// What the test's model says of a relationship and its inverse: the names of both ends, and which of them are single.
    struct Relation {
        let owner: String
        let name: String
        let member: String
        let ownerIsSingle: Bool
        let memberIsSingle: Bool
        var isSymmetric = false
        /// True when deleting the member, or the owner, takes the other along.
        var memberTakesOwner = false
    }

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

    static let relations: [Relation] = [
        Relation(owner: "Person", name: "spouse", member: "Person", ownerIsSingle: true, memberIsSingle: true),
        Relation(
            owner: "Person",
            name: "friends",
            member: "Person",
            ownerIsSingle: false,
            memberIsSingle: false,
            isSymmetric: true
        ),
        Relation(owner: "Person", name: "fancies", member: "Pet", ownerIsSingle: true, memberIsSingle: false),
        Relation(
            owner: "Pet",
            name: "keeper",
            member: "Person",
            ownerIsSingle: true,
            memberIsSingle: false,
            memberTakesOwner: true
        ),
        Relation(owner: "Person", name: "clubs", member: "Club", ownerIsSingle: false, memberIsSingle: false),
        Relation(owner: "Debt", name: "debtor", member: "Person", ownerIsSingle: true, memberIsSingle: false),
        Relation(owner: "Person", name: "marks", member: "Mark", ownerIsSingle: false, memberIsSingle: true),
        Relation(owner: "Child", name: "toy", member: "Pet", ownerIsSingle: true, memberIsSingle: true),
    ]

    static func root(_ entity: String) -> String { entity == "Child" ? "Person" : entity }

    init() {}

    /// Reads all of a store: one query for the rows of each table, one for the pairs of each relationship.
    init(_ store: MergeStore) throws {
        let side = try store.side()
        let layout = store.writer.layout
        for entity in layout.entities.values {
            let attributes = entity.attributes
            let columns = (["Z_PK"] + attributes.map { SQLName.quoted($0.column) }).joined(separator: ", ")
            try store.connection.forEachRow(
                "SELECT \(columns) FROM \(SQLName.quoted(entity.table)) WHERE Z_ENT = \(entity.number)"
            ) { row in
                var values: [String: SQLValue] = [:]
                for (index, attribute) in attributes.enumerated() {
                    values[attribute.description.name] = try side.plain(row.value(index + 1), of: attribute.description)
                }
                let key = Key(root: Self.root(entity.name), number: row.integer(0))
                objects[key] = Object(entity: entity.name, values: values)
            }
        }
        for (index, relation) in Self.relations.enumerated() {
            guard let place = layout.entities[relation.owner]?.relationship(relation.name) else { continue }
            let (owner, member) = (Self.root(relation.owner), Self.root(relation.member))
            try store.connection.forEachRow(Self.query(place, layout)) { row in
                let pair = Self.pair(
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

    static func pair(_ relation: Int, _ owner: Key, _ member: Key) -> Pair {
        relations[relation].isSymmetric && owner.number > member.number
            ? Pair(relation: relation, owner: member, member: owner)
            : Pair(relation: relation, owner: owner, member: member)
    }
}

extension PlainGraph {
    /// A place that holds at most one pair.
    private struct Place: Hashable {
        let relation: Int
        let isOwner: Bool
        let key: Key
    }

    private static func places(_ pair: Pair) -> [Place] {
        let relation = relations[pair.relation]
        return (relation.ownerIsSingle ? [Place(relation: pair.relation, isOwner: true, key: pair.owner)] : [])
            + (relation.memberIsSingle ? [Place(relation: pair.relation, isOwner: false, key: pair.member)] : [])
    }

    /// What the merged store must hold; `greatest` is the greatest key that the shared and the old store gave out, by root.
    static func merged(
        _ base: PlainGraph,
        _ old: PlainGraph,
        _ shared: PlainGraph,
        prefersOld: Bool,
        greatest: [String: (shared: Int64, old: Int64)]
    ) -> PlainGraph {
        let goneFromOld = Set(base.objects.keys.filter { old.objects[$0] == nil })
        let goneFromShared = Set(base.objects.keys.filter { shared.objects[$0] == nil })
        let kept = survivors(of: goneFromOld.subtracting(goneFromShared), in: shared, base)
        let restored = survivors(of: goneFromShared.subtracting(goneFromOld), in: old, base)

        // Keys.
        var next = greatest.mapValues { max($0.shared, $0.old) }
        var renamed: [Key: Key] = [:]
        let arrived = old.objects.keys.filter { base.objects[$0] == nil }
            .sorted { ($0.root, $0.number) < ($1.root, $1.number) }
        for key in arrived where key.number <= greatest[key.root]?.shared ?? 0 {
            next[key.root, default: 0] += 1
            renamed[key] = Key(root: key.root, number: next[key.root] ?? 0)
        }
        func name(_ key: Key) -> Key { renamed[key] ?? key }

        // Objects and their values.
        var result = PlainGraph()
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
        let given = Set(old.pairs.subtracting(base.pairs).map { pair(at: $0, name) })
        let taken = base.pairs.subtracting(old.pairs)
        let sharedGiven = shared.pairs.subtracting(base.pairs)
        let sharedTaken = base.pairs.subtracting(shared.pairs)
        func changes(_ given: Set<Pair>, _ taken: Set<Pair>, _ gone: Set<Key>) -> [Place: Pair?] {
            var found: [Place: Pair?] = [:]
            for pair in taken where !touches(pair, gone) { for place in places(pair) { found[place] = .some(nil) } }
            for pair in given { for place in places(pair) { found[place] = .some(pair) } }
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
        for pair in result.pairs { for place in places(pair) { held[place] = pair } }
        for pair in given.subtracting(rejected).subtracting(shared.pairs)
        where result.objects[pair.owner] != nil && result.objects[pair.member] != nil {
            for place in places(pair) {
                if let other = held[place] { result.pairs.remove(other) }
                held[place] = pair
            }
            result.pairs.insert(pair)
        }
        for pair in old.pairs.intersection(base.pairs) where touches(pair, restored) {
            guard places(pair).allSatisfy({ sharedPlaces[$0] == nil && oldPlaces[$0] == nil }) else { continue }
            result.pairs.insert(pair)
        }
        let objects = result.objects
        result.pairs = result.pairs.filter { objects[$0.owner] != nil && objects[$0.member] != nil }
        return result
    }

    private static func pair(at old: Pair, _ name: (Key) -> Key) -> Pair {
        pair(old.relation, name(old.owner), name(old.member))
    }

    /// Which deleted objects survive because the side that has them still went on with them.
    private static func survivors(of deleted: Set<Key>, in side: PlainGraph, _ base: PlainGraph) -> Set<Key> {
        let new = side.pairs.subtracting(base.pairs)
        var result = deleted.filter { key in
            side.objects[key]?.values != base.objects[key]?.values
                || new.contains { $0.owner == key || $0.member == key }
        }
        while true {
            let more = base.pairs.filter { relations[$0.relation].memberTakesOwner && result.contains($0.member) }
                .map(\.owner)
                .filter { deleted.contains($0) && !result.contains($0) }
            if more.isEmpty { return result }
            result.formUnion(more)
        }
    }
}
