import StoreAccess
import StoreFormat
import StoreWriting
import Testing

@Suite("Keys, numbers and values at their limits")
struct RowWriterLimitsTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            attributes: [
                AttributeDescription(name: "data", type: .binaryData, allowsExternalBinaryDataStorage: true),
                AttributeDescription(name: "flag", type: .boolean),
                AttributeDescription(name: "identifier", type: .uuid),
                AttributeDescription(name: "number", type: .integer32),
                AttributeDescription(name: "place", type: .integer16),
                AttributeDescription(name: "rate", type: .double),
            ]
        ),
        EntityDescription(name: "Part", superentity: "Item"),
    ])

    private let store: NewStore

    init() throws { store = try NewStore(Self.model, tracksHistory: true) }

    private func record(_ greatest: String, for name: String) throws {
        try store.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(greatest) WHERE Z_NAME = '\(name)'")
    }

    @Test("The greatest key is assigned, and none after it")
    func greatestKey() throws {
        try record("\(Int64.max - 2)", for: "Item")
        #expect(try store.writer.allocateKeys(for: "Part", count: 2) == .max - 1)
        let error = #expect(throws: StoreError.self) { try store.writer.allocateKeys(for: "Item", count: 1) }
        #expect(error?.code == .damaged)
    }

    @Test("A request for no key is refused, because the key it returned would be assigned again", arguments: [0, -1])
    func noKey(_ count: Int64) throws {
        #expect(throws: StoreError.self) { try store.writer.allocateKeys(for: "Item", count: count) }
        #expect(try store.insert("Item").primaryKey == 1)
    }

    @Test("A recorded key that no writer leaves is damage", arguments: ["-1", "NULL", "'text'", "\(Int64.max)"])
    func unusableKey(_ recorded: String) throws {
        for name in ["Item", "TRANSACTION", "CHANGE", "TRANSACTIONSTRING"] {
            let other = try Self()
            try other.record(recorded, for: name)
            let error = #expect(throws: StoreError.self) { try other.store.insert("Item") }
            #expect(error?.code == .damaged)
            for table in ["ZITEM", "ATRANSACTION", "ACHANGE"] {
                #expect(try other.store.connection.value("SELECT count(*) FROM \(table)") == .integer(0))
            }
        }
    }

    @Test("Reserved keys are those after the greatest, for each entity, and are not assigned again")
    func reservedKeys() throws {
        try store.insert("Part")
        #expect(try store.writer.reserveKeys(["Item": 3, "Part": 2]) == ["Item": 2, "Part": 5])
        #expect(try store.insert("Item").primaryKey == 7)
        try store.connection.execute("ALTER TABLE ZITEM RENAME COLUMN ZNUMBER TO ZCOUNT")
        let error = #expect(throws: StoreError.self) { try store.writer.reserveKeys(["Item": 1]) }
        #expect(error?.code == .changedMeanwhile)
    }

    @Test("Keys are reserved up to a number, unless a greater one is recorded or used")
    func reservedUpTo() throws {
        let last = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'"
        try store.writer.allocateKeys(for: "Part", upTo: 10)
        #expect(try store.connection.value(last) == .integer(10))
        try store.writer.allocateKeys(for: "Item", upTo: 9)
        #expect(try store.connection.value(last) == .integer(10))
        try store.connection.execute("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (20, 1)")
        try store.writer.allocateKeys(for: "Item", upTo: 15)
        #expect(try store.connection.value(last) == .integer(10))
        #expect(try store.writer.allocateKeys(for: "Item", count: 1) == 21)
    }

    @Test("The numbers of the history are raised above another store's, and never lowered")
    func historyNumbers() throws {
        try store.writer.raiseHistoryNumbers(transaction: 50, change: 70)
        try store.writer.raiseHistoryNumbers(transaction: 5, change: 7)
        #expect(try store.save { _ = try store.writer.batchInsert("Item", [[:]]) }.transaction == 51)
        #expect(try store.connection.value("SELECT group_concat(Z_PK) FROM ACHANGE") == .text("71"))
        let plain = try NewStore(Self.model)
        try plain.writer.raiseHistoryNumbers(transaction: 50, change: 70)
        #expect(try plain.insert("Item").primaryKey == 1)
    }

    @Test("A large value without a folder for its file is refused, and one of 100 KiB stays in its row")
    func withoutFolder() throws {
        let writer = try RowWriter(store.connection, layout: store.writer.layout)
        let value = [UInt8](repeating: 7, count: ExternalDataWriter.threshold)
        let key = ObjectKey(entity: "Item", primaryKey: try writer.allocateKeys(for: "Item", count: 1))
        try writer.insert(key, ["data": .blob(value)])
        #expect(try store.connection.value("SELECT ZDATA FROM ZITEM") == .blob([1] + value))
        let error = #expect(throws: StoreError.self) { try writer.update(key, ["data": .blob(value + [7])]) }
        #expect(error?.message == "Item.data needs a folder for external binary data")
    }

    @Test(
        "A value is accepted up to the limits of its type",
        arguments: [
            ("number", .integer(Int64(Int32.min)), true), ("number", .integer(Int64(Int32.max) + 1), false),
            ("place", .integer(Int64(Int16.min)), true), ("place", .integer(Int64(Int16.min) - 1), false),
            ("flag", .integer(1), true), ("flag", .integer(2), false), ("flag", .integer(-1), false),
            ("identifier", .blob([UInt8](repeating: 1, count: 16)), true),
            ("identifier", .blob([UInt8](repeating: 1, count: 15)), false), ("rate", .integer(1), true),
            ("rate", .text("1"), false),
        ] as [(String, SQLValue, Bool)]
    )
    func values(name: String, value: SQLValue, fits: Bool) throws {
        guard !fits else {
            try store.insert("Item", [name: value])
            let expected = name == "rate" ? SQLValue.real(1) : value
            #expect(try store.connection.value("SELECT Z\(name.uppercased()) FROM ZITEM") == expected)
            return
        }
        let error = #expect(throws: StoreError.self) { try store.insert("Item", [name: value]) }
        #expect(error?.message == "the value does not fit the type of Item.\(name)")
    }
}
