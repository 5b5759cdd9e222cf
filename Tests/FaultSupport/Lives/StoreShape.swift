import Synchronization
import TestSupport

/// The schema of all stores of one walk, and the statements of apps that write to them.
///
/// Every row has a token, which names one version of the row: an app that writes a row writes a new token with it.
package enum StoreShape: String, CaseIterable, Codable, Sendable {
    case integerKey, oddText, looseKey, compoundKey, keyless, foreignKeys, uniqueAndTrigger, fullText, generated,
        numeric
    case coreData, coreDataHistory, coreDataOwnTables

    package var isCoreData: Bool { [.coreData, .coreDataHistory, .coreDataOwnTables].contains(self) }

    /// A table that apps write to.
    package struct Table: Sendable {
        package let name: String
        /// The columns, except token and key, that an app may change at any time.
        let free: [String]
    }

    package var tables: [Table] {
        switch self {
        case .foreignKeys: [Table(name: "parent", free: ["x"]), Table(name: "child", free: ["x"])]
        case .fullText: [Table(name: "note", free: ["x"]), Table(name: "words", free: ["body"])]
        case .numeric: [Table(name: "item", free: ["price"])]
        case .uniqueAndTrigger: [Table(name: "item", free: ["x"])]
        case .coreData, .coreDataHistory:
            [Table(name: "ZHABIT", free: ["ZPICTURE"]), Table(name: "ZENTRY", free: ["ZNOTE"])]
        case .coreDataOwnTables:
            [
                Table(name: "ZHABIT", free: ["ZPICTURE", "XOWN"]), Table(name: "ZENTRY", free: ["ZNOTE"]),
                Table(name: "own", free: ["x"]), Table(name: "ownText", free: ["x"]),
                Table(name: "words", free: ["body"]),
            ]
        default: [Table(name: "item", free: ["x", "y"])]
        }
    }

    package var schema: String {
        switch self {
        case .integerKey: "CREATE TABLE item (id INTEGER PRIMARY KEY, token TEXT, x, y NUMERIC)"
        case .oddText: "CREATE TABLE item (k TEXT PRIMARY KEY, token TEXT, x, y TEXT)"
        case .looseKey: "CREATE TABLE item (k PRIMARY KEY, token TEXT, x, y REAL)"
        case .compoundKey:
            "CREATE TABLE item (k TEXT, n, token TEXT, x, y, PRIMARY KEY (k, n)) WITHOUT ROWID"
        case .keyless: "CREATE TABLE item (x, y, token TEXT); CREATE INDEX item_x ON item (x)"
        case .foreignKeys:
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY, token TEXT, x);
            CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent ON DELETE CASCADE, token TEXT, x);
            CREATE INDEX child_parent ON child (parent)
            """
        case .uniqueAndTrigger:
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, token TEXT, name TEXT UNIQUE, x);
            CREATE TABLE log (id INTEGER PRIMARY KEY, token TEXT);
            CREATE TRIGGER item_logged AFTER INSERT ON item BEGIN
              INSERT INTO log (token) VALUES ('l' || substr(new.token, 2));
            END
            """
        case .fullText:
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, token TEXT, x);
            CREATE VIRTUAL TABLE words USING fts5(token, body)
            """
        case .generated:
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, token TEXT, x, y,
              size INTEGER GENERATED ALWAYS AS (length(y)) STORED, kind TEXT GENERATED ALWAYS AS (typeof(x)) VIRTUAL);
            CREATE INDEX item_kind ON item (kind)
            """
        case .numeric: "CREATE TABLE item (price NUMERIC, token TEXT)"
        case .coreData, .coreDataHistory: ""
        case .coreDataOwnTables:
            """
            ALTER TABLE ZHABIT ADD COLUMN XOWN;
            CREATE TABLE own (id INTEGER PRIMARY KEY, token TEXT, x);
            CREATE TABLE ownText (k TEXT PRIMARY KEY, token TEXT, x);
            CREATE VIRTUAL TABLE words USING fts5(token, body)
            """
        }
    }

    /// The statement that inserts a row.
    func insertion(into table: Int, token: String, _ random: inout SeededGenerator) -> String {
        let number = token.dropFirst()
        let x = Self.value(&random)
        let y = Self.value(&random)
        switch (self, tables[table].name) {
        case (.oddText, _):
            return "INSERT INTO item VALUES (\(Self.oddText(number, &random)), '\(token)', \(x), \(y))"
        case (.looseKey, _):
            return "INSERT INTO item VALUES (\(Self.looseKey(number, &random)), '\(token)', \(x), \(y))"
        case (.compoundKey, _):
            let n = ["1", "1.5", "x'31'", "'1'"].randomElement(using: &random) ?? "1"
            return "INSERT INTO item VALUES (\(Self.oddText(number, &random)), \(n), '\(token)', \(x), \(y))"
        case (.keyless, _): return "INSERT INTO item (token, x, y) VALUES ('\(token)', \(x), \(y))"
        case (.numeric, _): return "INSERT INTO item (token, price) VALUES ('\(token)', \(Self.number(&random)))"
        case (.foreignKeys, "child"):
            let order = Bool.random(using: &random) ? "" : " DESC"
            return "INSERT INTO child (parent, token, x) VALUES "
                + "((SELECT id FROM parent ORDER BY id\(order) LIMIT 1), '\(token)', \(x))"
        case (.uniqueAndTrigger, _):
            // One name in eight is used in another store as well.
            let name = Int.random(in: 0..<8, using: &random) == 0 ? "same" : "n\(number)"
            return "INSERT OR IGNORE INTO item (token, name, x) VALUES ('\(token)', '\(name)', \(x))"
        case (_, "words"):
            return "INSERT INTO words (token, body) VALUES ('\(token)', 'word\(number) and more')"
        case (_, "ZHABIT"), (_, "ZENTRY"): return Self.objectInsertion(into: tables[table].name, token: token, &random)
        case (_, "ownText"):
            return "INSERT INTO ownText VALUES (\(Self.oddText(number, &random)), '\(token)', \(x))"
        case (.integerKey, _), (.generated, _):
            return "INSERT INTO item (token, x, y) VALUES ('\(token)', \(x), \(y))"
        case (_, let name): return "INSERT INTO \(name) (token, x) VALUES ('\(token)', \(x))"
        }
    }

    /// The statement that changes the row of a token, and replaces the token.
    func update(of table: Int, token: String, to new: String, _ random: inout SeededGenerator) -> String {
        let table = tables[table]
        let column = table.free.randomElement(using: &random) ?? "x"
        let value =
            switch column {
            case "price": Self.number(&random)
            case "body": "'changed \(new)'"
            case "ZNOTE": "'note \(new)'"
            case "ZPICTURE": "x'01\(new.utf8.map { String($0, radix: 16) }.joined())'"
            default: Self.value(&random)
            }
        let isObject = table.name.hasPrefix("Z")
        let name = isObject ? "ZNAME" : "token"
        return "UPDATE \(table.name) SET \(name) = '\(new)', \(column) = \(value)"
            + (isObject ? ", Z_OPT = Z_OPT + 1" : "") + " WHERE \(name) = '\(token)'"
    }

    func deletion(from table: Int, token: String) -> String {
        let name = tables[table].name
        // As Core Data does: references to the object become NULL.
        let first =
            name == "ZHABIT"
            ? "UPDATE ZENTRY SET ZHABIT = NULL, Z_OPT = Z_OPT + 1 "
                + "WHERE ZHABIT IN (SELECT Z_PK FROM ZHABIT WHERE ZNAME = '\(token)'); "
            : ""
        return first + "DELETE FROM \(name) WHERE \(name.hasPrefix("Z") ? "ZNAME" : "token") = '\(token)'"
    }

    /// Inserts as Core Data does: the key is the next one of the store's table of keys.
    private static func objectInsertion(into table: String, token: String, _ random: inout SeededGenerator) -> String {
        let entity = table == "ZHABIT" ? "Habit" : "Entry"
        let order = Bool.random(using: &random) ? "" : " DESC"
        let (columns, values) =
            table == "ZHABIT"
            ? ("ZNAME, ZPICTURE", "'\(token)', x'01'")
            : ("ZNAME, ZHABIT, ZNOTE", "'\(token)', (SELECT Z_PK FROM ZHABIT ORDER BY Z_PK\(order) LIMIT 1), NULL")
        return "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = '\(entity)'; "
            + "INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT, \(columns)) SELECT Z_MAX, Z_ENT, 1, \(values) "
            + "FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'"
    }

    /// The recipe of a Core Data store without objects; nil for other shapes.
    func recipe(journalMode: String, place: Int) -> String? {
        guard isCoreData else { return nil }
        return """
            about: A store for walks.
            seed: walk \(place)
            options:
              journalMode: \(journalMode == "wal" ? "wal" : "rollback")
              history: \(self == .coreDataHistory)
            model:
              entities:
                Habit:
                  attributes:
                    name: {type: string, optional: true}
                    picture: {type: binaryData}
                  relationships:
                    entries: {to: Entry, many: true, inverse: habit}
                Entry:
                  attributes:
                    name: {type: string, optional: true}
                    note: {type: string}
                  relationships:
                    habit: {to: Habit, inverse: entries}
            """
    }

    /// Statements of which at least one fails when the store refuses writers.
    var probe: String {
        var random = SeededGenerator(seed: 1)
        return insertion(into: 0, token: "v999999", &random)
    }

    // MARK: Values

    private static func value(_ random: inout SeededGenerator) -> String {
        let values = [
            "NULL", "0", "1", "1.0", "1.5", "-3", "9007199254740993", "9007199254740992.0", "9223372036854775807",
            "-9e999", "''", "'1'", "'abc'", "CAST(x'fe' AS TEXT)", "CAST(x'61fe00' AS TEXT)", "x''", "x'00ff'",
            "CAST(x'6100' AS TEXT)", "'ä€'", "zeroblob(3000)",
        ]
        return values.randomElement(using: &random) ?? "NULL"
    }

    private static func number(_ random: inout SeededGenerator) -> String {
        ["1", "1.5", "3", "'x'", "NULL", "1.25", "2", "9007199254740993", "9007199254740992.5"]
            .randomElement(using: &random) ?? "1"
    }

    /// A unique text; half of them are not UTF-8, or contain a zero byte.
    private static func oddText(_ number: Substring, _ random: inout SeededGenerator) -> String {
        let digits = number.utf8.map { String($0, radix: 16) }.joined()
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: "CAST(x'fe\(digits)' AS TEXT)"
        case 1: "CAST(x'\(digits)c3' AS TEXT)"
        case 2: "CAST(x'\(digits)0061' AS TEXT)"
        default: "'k\(number)'"
        }
    }

    private static func looseKey(_ number: Substring, _ random: inout SeededGenerator) -> String {
        let digits = number.utf8.map { String($0, radix: 16) }.joined()
        return switch Int.random(in: 0..<6, using: &random) {
        case 0: "x'\(digits)'"
        case 1: "CAST(x'fe\(digits)' AS TEXT)"
        case 2: "\(number).5"
        case 3: "NULL"
        case 4: "1\(number)"
        default: "'k\(number)'"
        }
    }
}

extension StoreShape {
    private static let templates = Mutex<[String: [UInt8]]>([:])

    /// The main file of a Core Data store without objects, built by the package; nil for other shapes.
    static func template(_ setting: WalkWorld.Setting, place: Int) throws -> [UInt8]? {
        guard let recipe = setting.shape.recipe(journalMode: setting.journalMode, place: place) else { return nil }
        if let made = templates.withLock({ $0[recipe] }) { return made }
        let template = try StoreTemplate.make("", recipe: recipe)
        let bytes = template.files[template.name] ?? []
        templates.withLock { $0[recipe] = bytes }
        return bytes
    }
}
