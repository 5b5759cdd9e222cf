import StoreFormat
import TestSupport
import Testing

@Suite("Store metadata")
struct StoreMetadataTests {
    private static let table = "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR, Z_PLIST BLOB);"

    @Test(
        "Metadata keeps the UUID if the property list is missing or cannot be decoded",
        arguments: [("NULL", 0), ("X'00'", 1), ("'text'", 4), ("12", 2), ("X'62706C6973743030'", 8)]
    )
    func undecodable(list: String, byteCount: Int) throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.table + "INSERT INTO Z_METADATA VALUES (1, 'some-uuid', \(list));")
        let metadata = try #require(try StoreMetadata(reading: scratch.open()))
        #expect(metadata.uuid == "some-uuid")
        #expect(metadata.values.isEmpty)
        #expect(metadata.rawPropertyList.count == byteCount)
    }

    @Test("Metadata is read with all keys, and keeps the property list's bytes")
    func reading() throws {
        let list =
            "<plist><dict><key>own</key><true/>"
            + "<key>NSPersistenceFrameworkVersion</key><integer>1522</integer></dict></plist>"
        let scratch = try ScratchFolder()
        try scratch.makeStore(Self.table + "INSERT INTO Z_METADATA VALUES (1, 'u', CAST('\(list)' AS BLOB));")
        let metadata = try #require(try StoreMetadata(reading: scratch.open()))
        #expect(metadata.values["own"] == .boolean(true))
        #expect(metadata.frameworkVersion == 1522)
        #expect(metadata.rawPropertyList == Array(list.utf8))
    }

    @Test(
        "A store without the metadata table, its row or its columns has no metadata",
        arguments: [
            "CREATE TABLE t (x);", table, "CREATE TABLE Z_METADATA (x);",
        ]
    )
    func absent(sql: String) throws {
        let scratch = try ScratchFolder()
        try scratch.makeStore(sql)
        #expect(try StoreMetadata(reading: scratch.open()) == nil)
    }

    @Test("The digest and the checksum of the model are recomputed from metadata")
    func hashes() {
        // Expected values: hashlib.sha512(b"A" + a + b"B" + b) and hashlib.sha256(a + b).
        let metadata = StoreMetadata(
            uuid: "u",
            values: [
                "NSStoreModelVersionHashes": .dictionary([
                    "B": .data([UInt8](repeating: 2, count: 32)), "A": .data([UInt8](repeating: 1, count: 32)),
                ])
            ]
        )
        #expect(
            metadata.modelDigest
                == "Vk/GpflUxzw26DJs0XXfr42zjyupM6aZbe8IYhHn+jJ1sZIic/jFn0paYwMTqmCw4wm2iMeOaqOYx2wbng5jqA=="
        )
        #expect(metadata.modelChecksum == "+Biv03ptw7yS+0RzEBEncAbbTvpukCPNdGjAIzXSKk0=")
        #expect(metadata.recordedModelDigest == nil)
    }
}
