import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Conflicts while writing objects")
struct RowWriterConflictTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Account",
            attributes: [
                AttributeDescription(name: "login", type: .string),
                AttributeDescription(name: "realm", type: .string),
            ],
            relationships: [
                RelationshipDescription(
                    name: "items",
                    destination: "Item",
                    inverse: "account",
                    maxCount: 0,
                    isOrdered: true
                ),
                RelationshipDescription(name: "next", destination: "Account", inverse: "former"),
                RelationshipDescription(name: "former", destination: "Account", inverse: "next"),
            ],
            uniquenessConstraints: [["login", "realm"]]
        ),
        EntityDescription(name: "Guest", superentity: "Account"),
        EntityDescription(
            name: "Item",
            attributes: [AttributeDescription(name: "data", type: .binaryData, allowsExternalBinaryDataStorage: true)],
            relationships: [RelationshipDescription(name: "account", destination: "Account", inverse: "items")]
        ),
    ])

    private func store() throws -> NewStore { try NewStore(Self.model, tracksHistory: true) }

    @Test("An object that another writer changed is not written, and the conflict has its version")
    func changedMeanwhile() throws {
        let store = try store()
        let key = try store.insert("Item")
        try store.connection.execute("UPDATE ZITEM SET Z_OPT = 5")
        let conflict = #expect(throws: VersionConflict.self) {
            try store.save { try store.writer.update(key, ["data": .null], expecting: 1) }
        }
        #expect(conflict == VersionConflict(object: key, expected: 1, found: 5))
        #expect(throws: VersionConflict.self) { try store.save { try store.writer.delete(key, expecting: 4) } }
        #expect(try store.connection.value("SELECT Z_OPT FROM ZITEM") == .integer(5))
        try store.save { try store.writer.delete(key, expecting: 5) }
    }

    @Test("A deleted object, or a key of another entity, is reported as deleted")
    func gone() throws {
        let store = try store()
        let key = try store.insert("Account")
        let misnamed = ObjectKey(entity: "Guest", primaryKey: key.primaryKey)
        #expect(try store.writer.conflict(over: misnamed, expecting: 1)?.found == nil)
        #expect(try store.writer.object("Guest", key.primaryKey) == key)
        try store.save { try store.writer.delete(key) }
        #expect(try store.writer.object("Account", key.primaryKey) == nil)
        let conflict = #expect(throws: VersionConflict.self) {
            try store.save { try store.writer.update(key, ["login": .text("a")]) }
        }
        #expect(conflict == VersionConflict(object: key, expected: nil, found: nil))
    }

    @Test("A save's own changes to an object are no conflict")
    func ownChanges() throws {
        let store = try store()
        let (account, item) = (try store.insert("Account"), try store.insert("Item"))
        try store.save {
            try store.writer.connect(item, "account", to: account)
            #expect(try store.writer.conflict(over: account, expecting: 1) == nil)
            try store.writer.update(account, ["login": .text("a")], expecting: 1)
        }
        #expect(try store.writer.version(of: account) == 2)
    }

    @Test("A violated uniqueness constraint is reported with the object that has the values")
    func uniqueness() throws {
        let store = try store()
        let first = try store.insert("Account", ["login": .text("a"), "realm": .text("r")])
        let second = try store.insert("Guest", ["login": .text("b"), "realm": .text("r")])
        let conflict = #expect(throws: UniquenessConflict.self) {
            try store.save { try store.writer.update(second, ["login": .text("a")]) }
        }
        #expect(conflict == UniquenessConflict(object: second, constraint: ["login", "realm"], holder: first))
        let third = ObjectKey(entity: "Guest", primaryKey: 3)
        let inserting = #expect(throws: UniquenessConflict.self) {
            try store.insert("Guest", ["login": .text("a"), "realm": .text("r")])
        }
        #expect(inserting == UniquenessConflict(object: third, constraint: ["login", "realm"], holder: first))
        try store.insert("Guest", ["login": .text("a")])
        try store.insert("Guest", ["login": .text("a")])
    }

    @Test("A failed save leaves neither rows nor external files")
    func failure() throws {
        let store = try store()
        let large = SQLValue.blob([UInt8](repeating: 1, count: ExternalDataWriter.threshold + 1))
        let kept = try store.insert("Item", ["data": large])
        let files = try store.externalFiles()
        #expect(throws: CancellationError.self) {
            try store.save {
                try store.writer.update(kept, ["data": large])
                throw CancellationError()
            }
        }
        #expect(try store.externalFiles() == files)
        try store.save { try store.writer.update(kept, ["data": large]) }
        #expect(try store.externalFiles().count == 1)
        #expect(try store.externalFiles() != files)
        #expect(try store.connection.value("SELECT count(*) FROM ATRANSACTION") == .integer(2))
    }

    @Test("An object restored under its key gets a new version")
    func restored() throws {
        let store = try store()
        let key = try store.insert("Account")
        try store.save { try store.writer.delete(key, expecting: 1) }
        try store.save { try store.writer.insert(key, ["login": .text("a")], version: 2) }
        #expect(try store.writer.conflict(over: key, expecting: 1)?.found == 2)
        #expect(try store.writer.allocateKeys(for: "Account", count: 1) == key.primaryKey + 1)
    }

    @Test(
        "A save fails once another writer changed the tables or entity numbers",
        arguments: [
            "ALTER TABLE ZACCOUNT RENAME COLUMN ZLOGIN TO ZLOGON",
            "CREATE TABLE own (a); UPDATE Z_PRIMARYKEY SET Z_ENT = 9 WHERE Z_ENT = 1",
            "ALTER TABLE ZACCOUNT ADD COLUMN ZNEW INTEGER; UPDATE Z_METADATA SET Z_PLIST = NULL",
        ]
    )
    func migratedMeanwhile(_ sql: String) throws {
        let store = try store()
        let key = try store.insert("Account")
        try store.connection.execute(sql)
        let error = #expect(throws: StoreError.self) { try store.save { try store.writer.delete(key) } }
        #expect(error?.code == .changedMeanwhile)
        #expect(try store.connection.value("SELECT count(*) FROM ZACCOUNT") == .integer(1))
    }

    @Test(
        "A new index, table or unrelated column does not stop a writer",
        arguments: [
            "CREATE INDEX own ON ZACCOUNT (ZLOGIN)", "ALTER TABLE ZACCOUNT ADD COLUMN own INTEGER",
            "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE0 BLOB", "CREATE TABLE own (a)",
        ]
    )
    func tidiedMeanwhile(_ sql: String) throws {
        let store = try store()
        let key = try store.insert("Account")
        try store.connection.execute(sql)
        try store.save { try store.writer.update(key, ["login": .text("a")]) }
        try store.save { try store.writer.delete(key) }
        #expect(try store.connection.value("SELECT count(*) FROM ACHANGE") == .integer(3))
    }

    @Test("History that another writer enabled is written from then on")
    func historyMeanwhile() throws {
        let store = try NewStore(Self.model)
        try store.insert("Account")
        try HistoryWriter.writeSchema(for: Self.model, to: store.connection)
        try store.insert("Account")
        #expect(try store.connection.value("SELECT count(*) FROM ACHANGE") == .integer(1))
    }

    @Test("Two writers of one store never assign the same key")
    func twoWriters() throws {
        let store = try store()
        try store.insert("Account")
        try NewStoreFile.checkpoint(store.connection)
        try NewStoreFile.closeClean(store.connection)
        let writers = try (0..<2)
            .map { _ in
                let connection = try StoreConnection(store.location, access: .liveWriting)
                return try RowWriter(connection, layout: #require(try StoreLayout(reading: connection)))
            }
        for round in 0..<6 {
            let writer = writers[round % 2]
            let origin = HistoryWriter.Origin(author: "writer \(round % 2)", timestamp: Double(round))
            _ = try writer.save(from: origin, deadline: Deadline(after: .seconds(60))) {
                let first = try writer.allocateKeys(for: "Account", count: 1)
                try writer.insert(ObjectKey(entity: "Account", primaryKey: first), [:])
            }
        }
        let connection = writers[0].connection
        #expect(try connection.value("SELECT group_concat(Z_PK) FROM ZACCOUNT") == .text("1,2,3,4,5,6,7"))
        #expect(
            try connection.value("SELECT group_concat(Z_PK) FROM (SELECT Z_PK FROM ATRANSACTION ORDER BY Z_PK)")
                == .text("1,2,3,4,5,6,7")
        )
        #expect(
            try connection.value("SELECT group_concat(ZNAME) FROM ATRANSACTIONSTRING")
                == .text("tests,writer 0,writer 1")
        )
    }

    @Test("Both sides of a one-to-one can be inserted in one save, in either order")
    func newPair() throws {
        let store = try store()
        try store.save {
            let first = try store.writer.allocateKeys(for: "Account", count: 3)
            let keys = (first..<first + 3).map { ObjectKey(entity: "Account", primaryKey: $0) }
            try store.writer.insert(keys[0], [:], toOne: ["next": keys[1]])
            try store.writer.insert(keys[1], [:], toOne: ["next": keys[2]])
            try store.writer.insert(keys[2], [:])
            for (former, next) in zip(keys, keys.dropFirst()) {
                #expect(try store.writer.destinations(of: former, "next") == [next])
                #expect(try store.writer.destinations(of: next, "former") == [former])
            }
        }
        #expect(throws: StoreError.self) {
            try store.save {
                let first = try store.writer.allocateKeys(for: "Account", count: 2)
                let missing = ObjectKey(entity: "Account", primaryKey: first + 1)
                try store.writer.insert(ObjectKey(entity: "Account", primaryKey: first), [:], toOne: ["next": missing])
            }
        }
    }

    @Test(
        "Reordering writes as few order keys as possible",
        arguments: [
            ([0, 1, 2], [1024, 2048, 3072]), ([0, 2, 1], [1024, 1536, 2048]), ([2, 0, 1], [512, 1024, 2048]),
        ]
    )
    func order(_ order: [Int], _ places: [Int64]) throws {
        let store = try store()
        let account = try store.insert("Account")
        let items = try (0..<3).map { _ in try store.insert("Item") }
        try store.save { for item in items { try store.writer.connect(account, "items", to: item) } }
        try store.save { try store.writer.arrange(account, "items", in: order.map { items[$0] }) }
        #expect(try store.writer.destinations(of: account, "items") == order.map { items[$0] })
        var found: [Int64] = []
        try store.connection.forEachRow("SELECT Z_FOK_ACCOUNT FROM ZITEM ORDER BY 1") { found.append($0.integer(0)) }
        #expect(found == places)
    }

    @Test("A used-up gap gets new order keys, and an incomplete order is rejected")
    func crampedOrder() throws {
        let store = try store()
        let account = try store.insert("Account")
        let items = try (0..<3).map { _ in try store.insert("Item") }
        try store.save { for item in items { try store.writer.connect(account, "items", to: item) } }
        try store.connection.execute("UPDATE ZITEM SET Z_FOK_ACCOUNT = Z_PK")
        try store.save { try store.writer.arrange(account, "items", in: [items[2], items[0], items[1]]) }
        #expect(try store.writer.destinations(of: account, "items") == [items[2], items[0], items[1]])
        #expect(throws: StoreError.self) { try store.writer.arrange(account, "items", in: [items[2], items[0]]) }
    }

    @Test("Batches return the changed objects, and history lists them")
    func batches() throws {
        let store = try store()
        var keys: [ObjectKey] = []
        try store.save {
            keys = try store.writer.batchInsert("Account", (0..<3).map { ["login": SQLValue.text("\($0)")] })
        }
        let absent = ObjectKey(entity: "Account", primaryKey: 99)
        try store.save {
            let updated = try store.writer.batchUpdate(keys + [absent], ["realm": .text("r")])
            #expect(updated == keys)
        }
        try store.save {
            let deleted = try store.writer.batchDelete([absent, keys[1]])
            #expect(deleted == [keys[1]])
        }
        let kinds = "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM ACHANGE GROUP BY ZCHANGETYPE)"
        #expect(try store.connection.value(kinds) == .text("3,3,1"))
    }
}
