import ManagedObjects
import StoreAccess
import TestSupport

/// Changes rows as a program that uses only SQLite.
final class ForeignWriter {
    private let connection: StoreConnection
    private let storeUUID: String
    private let dummy: Int64
    private let special: Int64

    init(_ location: StoreLocation, storeUUID: String) throws {
        let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: .seconds(60))
        try connection.execute("PRAGMA synchronous = OFF")
        self.connection = connection
        self.storeUUID = storeUUID
        let number = { (name: String) in
            try connection.value("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?", [.text(name)])?.integer ?? 0
        }
        dummy = try number("TestDummy")
        special = try number("SpecialDummy")
    }

    /// Inserts, updates and deletes a few dummies, or renames an owner; returns the URIs of the changed objects.
    func change(_ generator: inout SeededGenerator) throws -> ObjectURIChanges {
        var inserted: Set<String> = []
        var updated: Set<String> = []
        var deleted: Set<String> = []
        try connection.execute("BEGIN IMMEDIATE")
        let dummies = try keys("ZTESTDUMMY")
        let owners = try keys("ZOWNER")
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<2: inserted.insert(uri("TestDummy", try insert(owners, &generator)))
            case 2..<3 where !dummies.isEmpty:
                let key = generator.pick(dummies)
                try connection.run("DELETE FROM ZTESTDUMMY WHERE Z_PK = ?", [.integer(key)])
                deleted.insert(uri("TestDummy", key))
            case 3..<5 where !owners.isEmpty:
                let key = generator.pick(owners)
                let name = SQLValue.text("o\(Int.random(in: 0..<3, using: &generator))")
                try connection.run(
                    "UPDATE ZOWNER SET ZNAME = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?",
                    [name, .integer(key)]
                )
                updated.insert(uri("Owner", key))
            case _ where !dummies.isEmpty:
                let key = generator.pick(dummies)
                try connection.run(
                    "UPDATE ZTESTDUMMY SET ZISEVEN = ?, ZID = ?, ZOWNER = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?",
                    Self.values(owners, &generator) + [.integer(key)]
                )
                updated.insert(uri("TestDummy", key))
            default: break
            }
        }
        try connection.execute("COMMIT")
        return ObjectURIChanges(
            inserted: inserted.subtracting(deleted).sorted(),
            updated: updated.subtracting(deleted).sorted(),
            deleted: deleted.sorted()
        )
    }

    func deleteEverything() throws {
        try connection.execute("BEGIN IMMEDIATE; DELETE FROM ZTESTDUMMY; DELETE FROM ZOWNER; COMMIT")
    }

    private func insert(_ owners: [Int64], _ generator: inout SeededGenerator) throws -> Int64 {
        try connection.run("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = 'TestDummy'", [])
        let key = try connection.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'TestDummy'")?.integer ?? 0
        try connection.run(
            "INSERT INTO ZTESTDUMMY(ZISEVEN, ZID, ZOWNER, Z_PK, Z_ENT, Z_OPT) VALUES(?, ?, ?, ?, ?, 1)",
            Self.values(owners, &generator) + [.integer(key), .integer(generator.chance(30) ? special : dummy)]
        )
        return key
    }

    private static func values(_ owners: [Int64], _ generator: inout SeededGenerator) -> [SQLValue] {
        [
            generator.pick([.null, .integer(0), .integer(1)]), .integer(Int64.random(in: 0..<9, using: &generator)),
            owners.isEmpty || generator.chance(40) ? .null : .integer(generator.pick(owners)),
        ]
    }

    private func keys(_ table: String) throws -> [Int64] {
        var result: [Int64] = []
        try connection.forEachRow("SELECT Z_PK FROM \(table) ORDER BY Z_PK") { result.append($0.integer(0)) }
        return result
    }

    private func uri(_ entity: String, _ key: Int64) -> String { "x-coredata://\(storeUUID)/\(entity)/p\(key)" }
}
