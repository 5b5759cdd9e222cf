import ChangeMerging
import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Synchronization
import TestSupport
import Testing

@Suite("Comparing two stores")
struct StoreDifferenceTests {
    private static func text(_ difference: ObjectDifference) -> String {
        let key = difference.key.map { "\($0.sqlValue)" }.joined(separator: ",")
        let properties = difference.properties.map { property in
            let members = (property.added.map { "+\($0)" } + property.removed.map { "-\($0)" }).joined()
            return property.name + members + (property.isReordered ? "~" : "")
        }
        let side = difference.side.map { $0.rawValue + " " } ?? ""
        return "\(side)\(difference.kind.rawValue) \(difference.entity) \(key) \(properties.joined(separator: " "))"
    }

    @Test("A difference reports entity and key, property names, and members added and removed")
    func managed() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.update(StoreMergeTests.habit(1), ["name": .text("new"), "goal": .integer(4)]) }
        try old.save { try $0.delete([StoreMergeTests.habit(3)]) }
        let late = try old.insert("Habit", ["name": .text("late"), "code": .text("l")])
        try old.save { try $0.connect(StoreMergeTests.category, "habits", to: late) }
        try shared.save { try $0.update(StoreMergeTests.habit(1), ["name": .text("other")]) }

        var found: [String] = []
        let difference = StoreDifference(lockTimeout: .seconds(60))
        let base = try triple.store("base").location
        let summary = try difference.compare(base, with: old.location, includingValues: true) { object in
            found.append(Self.text(object))
            if object.kind == .updated, object.entity == "Habit" {
                #expect(object.properties.map(\.before) == [.value(.null), .value(.text("habit 1"))])
                #expect(object.properties.map(\.after) == [.value(.integer(4)), .value(.text("new"))])
                #expect(object.address?.primaryKey == 1)
            }
        }
        #expect(
            found == [
                "updated Category integer(1) habits+4-3", "updated Habit integer(1) goal name",
                "deleted Habit integer(3) ", "inserted Habit integer(4) ",
            ]
        )
        #expect(!summary.isEqual)
        #expect(summary.second["Habit"]?.updated == 1)

        found = []
        let three = try difference.compare(shared.location, with: old.location, base: base) { object in
            found.append(Self.text(object))
        }
        #expect(found.first == "first updated Habit integer(1) name")
        #expect(found.count == 5)
        #expect(three.conflicts.map(\.property) == ["name"])
        // Values were not requested.
        #expect(three.conflicts.map(\.old) == [.present])
    }

    @Test("With a base, an insertion is reported for the store that made it")
    func sides() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        for store in [old, shared] { try store.insert("Category", ["title": .text("new")]) }
        let habit = try old.insert("Habit", ["code": .text("late")])

        var found: [String] = []
        let summary = try StoreDifference(lockTimeout: .seconds(60))
            .compare(shared.location, with: old.location, base: triple.store("base").location) { object in
                found.append(Self.text(object))
            }

        #expect(
            found == [
                "first inserted Category integer(2) ", "second inserted Category integer(2) ",
                "second inserted Habit integer(\(habit.primaryKey)) ",
            ]
        )
        #expect([summary.first, summary.second].map { $0["Category"]?.inserted } == [1, 1])
        #expect([summary.first, summary.second].map { $0["Habit"]?.inserted } == [nil, 1])
    }

    @Test("Another order of an object's members is a difference, but other order keys of the same order are not")
    func order() throws {
        let triple = try StoreMergeTests.triple()
        let (old, shared) = (try triple.store("old"), try triple.store("shared"))
        try old.save { try $0.arrange(StoreMergeTests.category, "habits", in: [3, 1, 2].map(StoreMergeTests.habit)) }
        try shared.connection.execute("UPDATE ZHABIT SET Z_FOK_CATEGORY = Z_FOK_CATEGORY + 7")
        func compare(_ store: MergeStore) throws -> (found: [String], summary: DifferenceSummary) {
            var found: [String] = []
            let summary = try StoreDifference(lockTimeout: .seconds(60))
                .compare(triple.store("base").location, with: store.location) { found.append(Self.text($0)) }
            return (found, summary)
        }

        let moved = try compare(old)
        #expect(moved.found == ["updated Category integer(1) habits~"])
        #expect(moved.summary.second["Category"]?.updated == 1)

        let same = try compare(shared)
        #expect(same.found.isEmpty)
        #expect(same.summary.tables == ["ZHABIT"])
    }

    @Test("A comparison that is cancelled while it reports stops before the next object", arguments: [true, false])
    func cancelled(isManaged: Bool) throws {
        let stores: [StoreLocation]
        let folder = try ScratchFolder()
        let triple = isManaged ? try StoreMergeTests.triple() : nil
        if let triple {
            let old = try triple.store("old")
            for number in 1...3 { _ = try old.insert("Habit", ["name": .text("new"), "code": .text("\(number)")]) }
            stores = try [triple.store("base").location, old.location]
        } else {
            try folder.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY)", as: "a")
            try folder.makeStore("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)", as: "b")
            stores = [folder.location("a"), folder.location("b")]
        }
        let reported = Mutex(0)
        let difference = StoreDifference(lockTimeout: .seconds(60), isCancelled: { reported.withLock { $0 > 0 } })
        let error = #expect(throws: StoreError.self) {
            try difference.compare(stores[0], with: stores[1]) { _ in reported.withLock { $0 += 1 } }
        }
        #expect(error?.code == .cancelled)
        #expect(reported.withLock { $0 } == 1)
        withExtendedLifetime(triple) {}
    }

    @Test("A store and its copy are equal, and comparing them changes neither")
    func equal() throws {
        let triple = try StoreMergeTests.triple()
        let before = try triple.folder.directory.contents(of: "old.sqlite", limit: 1 << 28)
        let summary = try StoreDifference(lockTimeout: .seconds(60))
            .compare(triple.store("base").location, with: triple.store("old").location) { _ in
                Issue.record("nothing differs")
            }
        #expect(summary.isEqual)
        #expect(try triple.folder.directory.contents(of: "old.sqlite", limit: 1 << 28) == before)
    }

    @Test("Rows are reported by key, or by row number without a key, and definitions by name")
    func plain() throws {
        let folder = try ScratchFolder()
        let schema = """
            CREATE TABLE t (id INTEGER PRIMARY KEY, v, w); CREATE TABLE k (a TEXT, b INT, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE bag (x); INSERT INTO t VALUES (1, 1, 'x'), (2, NULL, 'y'); INSERT INTO k VALUES ('a', 1, 0);
            INSERT INTO bag VALUES (1), (1), (2);
            """
        let first = try folder.makeStore(schema, as: "first")
        let second = try folder.makeStore(
            schema + """
                UPDATE t SET v = 1.0 WHERE id = 1; DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (3, 3, 3);
                UPDATE k SET v = 'new'; DELETE FROM bag WHERE rowid = 1; INSERT INTO bag VALUES ('1');
                CREATE TABLE extra (id INTEGER PRIMARY KEY); INSERT INTO extra VALUES (7); CREATE INDEX i ON t (v);
                """,
            as: "second"
        )
        var found: [String] = []
        let summary = try StoreDifference(lockTimeout: .seconds(60))
            .compare(first, with: second) { found.append(Self.text($0)) }
        #expect(
            found == [
                "updated t integer(1) v", "deleted t integer(2) ", "inserted t integer(3) ",
                "updated k text(a),integer(1) v", "deleted bag  ", "inserted bag  ", "inserted extra integer(7) ",
            ]
        )
        #expect(summary.definitions == ["extra", "i"])
        // The differences of these tables were reported by row.
        #expect(summary.tables.isEmpty)
        let equal = try StoreDifference(lockTimeout: .seconds(60)).compare(first, with: first) { _ in }
        #expect(equal.isEqual)
    }

    @Test("Values of rows, and those of a merge's conflicts, are reported only if requested", arguments: [true, false])
    func plainValues(_ includesValues: Bool) throws {
        let triple = try PlainTriple("CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'base')")
        for name in ["old", "shared"] { try triple.execute("UPDATE t SET v = '\(name)'", in: name) }
        func value(_ name: SQLText) -> StoreMergeConflict.State? { includesValues ? .value(.text(name)) : nil }
        var found: [ObjectDifference.Property] = []

        let summary = try StoreDifference(lockTimeout: .seconds(60))
            .compare(
                triple.folder.location("shared"),
                with: triple.folder.location("old"),
                base: triple.folder.location("base"),
                includingValues: includesValues
            ) { found += $0.properties }

        #expect(found.map(\.before) == [value("base"), value("base")])
        #expect(found.map(\.after) == [value("shared"), value("old")])
        #expect(summary.conflicts.map(\.old) == [value("old") ?? .present])
        #expect(summary.conflicts.map(\.shared) == [value("shared") ?? .present])
    }

    @Test("Comparing a Core Data store with a plain SQLite store is an error")
    func kinds() throws {
        let triple = try StoreMergeTests.triple()
        let folder = try ScratchFolder()
        let plain = try folder.makeStore("CREATE TABLE t (v)")
        let error = #expect(throws: StoreError.self) {
            try StoreDifference(lockTimeout: .seconds(60))
                .compare(triple.store("base").location, with: plain) { _ in }
        }
        #expect(error?.code == .incompatible)
    }
}
