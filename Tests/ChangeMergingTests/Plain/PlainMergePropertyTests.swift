import ChangeMerging
import StoreAccess
import TestSupport
import Testing

@Suite("Merging random databases", .sampled)
struct PlainMergePropertyTests {
    private static let schema = """
        CREATE TABLE kind (name TEXT PRIMARY KEY, hue INTEGER) WITHOUT ROWID;
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, kind TEXT REFERENCES kind (name), age REAL, face BLOB);
        CREATE TABLE pet (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person (id), name TEXT,
            size INTEGER AS (length(name)));
        CREATE TABLE friend (a INTEGER REFERENCES person (id), b INTEGER REFERENCES person (id), since INTEGER,
            PRIMARY KEY (a, b));
        CREATE TABLE log (line TEXT, who INTEGER REFERENCES person (id), n INTEGER);
        CREATE INDEX pet_owner ON pet (owner);
        """

    @Test(
        "The merged database equals an in-memory model of the merge, and a second merge changes nothing",
        arguments: RandomTriples.seeds
    )
    func random(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let triple = try PlainTriple(Self.schema + Self.changes(12, &generator))
        for name in ["old", "shared"] {
            try triple.execute(Self.changes(Int.random(in: 0...10, using: &generator), &generator), in: name)
        }
        let prefersOld = Bool.random(using: &generator)
        let settings = MergeSettings(policy: prefersOld ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump)
        var before = try ["base", "old", "shared"].map { try PlainRows(reading: triple.connection($0)) }
        let (summary, _) = try triple.merge(settings)
        // A changed row that shares no value with the base can be a new row with a deleted one's number. The merge then
        // keeps the rows of both sides, as if the base had none.
        for conflict in summary.conflicts where conflict.reason == .editedAndDeleted {
            let key = conflict.key.map(\.sqlValue)
            guard before.allSatisfy({ $0.tables[conflict.entity]?[key] != nil }) else { continue }
            before[0].tables[conflict.entity]?[key] = nil
        }
        let expected = PlainRows.merged(before[0], before[1], before[2], prefersOld: prefersOld)
        let found = try PlainRows(reading: triple.connection("shared"))
        for (name, _) in PlainRows.shapes {
            #expect(found.tables[name] ?? [:] == expected.rows.tables[name] ?? [:], "\(name), seed \(seed)")
        }
        #expect(found.bag == expected.rows.bag, "log, seed \(seed)")
        #expect(try triple.rows("PRAGMA foreign_key_check").isEmpty, "seed \(seed)")
        #expect(try triple.rows("PRAGMA integrity_check") == ["ok"], "seed \(seed)")
        Self.checkNothingIsLost(before, found, expected.moves, triple.parked, seed)
        let again = try triple.merge(settings).result.outcome
        #expect(again == .alreadyDone || again == .nothingToDo, "seed \(seed)")
        #expect(before[0] != before[1] || summary.isIdle, "seed \(seed)")
        guard summary.rekeyed == 0 else { return }
        // The merge in the other direction with the opposite policy gives the same result.
        try triple.folder.write("other", try triple.folder.bytes("base"))
        try triple.execute(Self.script(seed, of: "shared"), in: "other")
        try triple.merge(
            MergeSettings(policy: prefersOld ? .mergeByPropertyStoreTrump : .mergeByPropertyObjectTrump),
            from: "other",
            into: "old"
        )
        #expect(try PlainRows(reading: triple.connection("old")) == found, "in the other direction, seed \(seed)")
    }

    /// The random changes of a seed to one side of its triple.
    private static func script(_ seed: UInt64, of name: String) -> String {
        var generator = SeededGenerator(seed: seed)
        _ = changes(12, &generator)
        let old = changes(Int.random(in: 0...10, using: &generator), &generator)
        let shared = changes(Int.random(in: 0...10, using: &generator), &generator)
        return name == "old" ? old : shared
    }

    /// A value that either side set since the base is in the merged row, or in a parked row.
    private static func checkNothingIsLost(
        _ before: [PlainRows],
        _ found: PlainRows,
        _ moves: PlainRows.Moves,
        _ parked: [ParkedRow],
        _ seed: UInt64
    ) {
        for (side, rows) in [(MergeDirection.old, before[1]), (.shared, before[2])] {
            for (name, shape) in PlainRows.shapes where !shape.key.isEmpty {
                for (key, row) in rows.tables[name, default: [:]] where row != before[0].tables[name]?[key] {
                    var target = key
                    if side == .old {
                        target = moves[name]?[key] ?? key
                        for (place, column) in shape.key.enumerated() {
                            if let table = shape.leads[column], let moved = moves[table]?[[key[place]]] {
                                target[place] = moved[0]
                            }
                        }
                    }
                    for (column, value) in row
                    where value != .null && value != before[0].tables[name]?[key]?[column] && shape.leads[column] == nil
                        && !shape.key.contains(column)
                    {
                        let isThere = found.tables[name]?[target]?[column] == value
                        let isParked = parked.contains {
                            $0.side == side && $0.entity == name && $0.key.map(\.sqlValue) == key
                                && $0.values[column]?.sqlValue == value
                        }
                        #expect(isThere || isParked, "\(name).\(column) of \(side) is lost, seed \(seed)")
                    }
                }
            }
        }
    }

    // MARK: Random changes

    /// Statements that change a database and leave no dangling row.
    private static func changes(_ count: Int, _ generator: inout SeededGenerator) -> String {
        (0..<count).map { _ in change(&generator) }.joined(separator: "\n")
    }

    private static func change(_ generator: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func word() -> String { ["'x'", "'y'", "NULL", "'longer'"][number(0...3)] }
        func person() -> String { "(SELECT id FROM person ORDER BY id LIMIT 1 OFFSET \(number(0...4)))" }
        func kind() -> String { "(SELECT name FROM kind ORDER BY name LIMIT 1 OFFSET \(number(0...2)))" }
        func face() -> String { ["NULL", "x'01'", "x''", "1", "1.0"][number(0...4)] }
        switch number(0...15) {
        case 0: return "INSERT OR IGNORE INTO kind VALUES ('k\(number(0...5))', \(word()));"
        case 1: return "UPDATE kind SET hue = \(word()) WHERE name = \(kind());"
        case 2:
            return "DELETE FROM kind WHERE name = 'k\(number(0...5))';"
                + "UPDATE person SET kind = NULL WHERE kind NOT IN (SELECT name FROM kind);"
        case 3, 4, 5:
            return
                "INSERT INTO person (name, kind, age, face) VALUES (\(word()), \(kind()), \(number(0...3)), \(face()));"
        case 6: return "UPDATE person SET name = \(word()) WHERE id = \(person());"
        case 7: return "UPDATE person SET age = \(number(0...9)), face = \(face()) WHERE id = \(person());"
        case 8:
            let rule = number(0...1) == 0 ? "UPDATE pet SET owner = NULL" : "DELETE FROM pet"
            let rest = "NOT IN (SELECT id FROM person)"
            return "DELETE FROM person WHERE id = \(person()); \(rule) WHERE owner \(rest);"
                + "DELETE FROM friend WHERE a \(rest) OR b \(rest); DELETE FROM log WHERE who \(rest);"
        case 9, 10: return "INSERT INTO pet (owner, name) VALUES (\(person()), \(word()));"
        case 11: return "UPDATE pet SET owner = \(person()) WHERE id = \(number(1...5));"
        case 12: return "DELETE FROM pet WHERE id = \(number(1...5));"
        case 13:
            return "INSERT OR REPLACE INTO friend SELECT a, b, \(number(0...3)) FROM (SELECT \(person()) AS a, "
                + "\(person()) AS b) WHERE a IS NOT NULL AND b IS NOT NULL;"
        case 14: return "INSERT INTO log VALUES (\(word()), \(person()), \(number(0...1)));"
        default: return "DELETE FROM log WHERE rowid = \(number(1...4));"
        }
    }
}
