import StoreAccess
import TestSupport
import Testing

@Suite("Packed rows")
struct PackedRowTests {
    private static let limits: [Int64] = [0, 1, -1, 127, 128, -128, -129, 255, 32_767, 32_768, -32_769, .max, .min]

    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// Expects each row of a table as the statement returns it.
    private func expectRows(of store: StoreLocation, columns: Int) throws -> Int {
        let connection = try folder.open(store.name)
        var count = 0
        try connection.forEachRow("SELECT * FROM t") { row in
            let order = Array((0..<columns).reversed())
            let packed = PackedRow(row, order)
            for (field, column) in order.enumerated() {
                #expect(packed.value(field) == row.value(column), "row \(count), column \(column)")
                #expect(packed.type(field) == row.type(column))
                #expect(packed.text(field) == row.text(column))
                switch row.type(column) {
                case .integer:
                    #expect(packed.integer(field) == row.integer(column))
                    #expect(packed.real(field) == row.real(column))
                case .real: #expect(packed.real(field).bitPattern == row.real(column).bitPattern)
                case .blob, .text:
                    let bytes = row.withBytes(column) { [UInt8]($0) }
                    #expect(packed.withBytes(field) { [UInt8]($0) } == bytes)
                case .null: #expect(packed.integer(field) == 0 && packed.real(field) == 0)
                }
            }
            for field in [-1, columns, columns + 1] {
                #expect(packed.value(field) == .null && packed.text(field) == nil)
                #expect(packed.withBytes(field) { $0.isEmpty })
            }
            count += 1
        }
        return count
    }

    @Test("Integers of every width, reals, texts and blobs of every length are as stored")
    func limits() throws {
        let integers = Self.limits.map { "(\($0), \(Double($0)), x'\($0 == 0 ? "" : "00ff")', NULL)" }
        let lengths = [0, 1, 127, 128, 255, 256, 32_767, 32_768, 70_000]
            .map { "(replace(hex(zeroblob(\($0 / 2 + 1))), '00', 'é'), zeroblob(\($0)), substr('é', 1, \($0)), 1e999)" }
        let store = try folder.makeStore(
            "CREATE TABLE t (a, b, c, d); INSERT INTO t VALUES "
                + (integers + lengths + ["('', x'', -0.0, -9e999)"]).joined(separator: ",")
        )
        #expect(try expectRows(of: store, columns: 4) == integers.count + lengths.count + 1)
    }

    @Test("Texts of every encoding keep their bytes, also invalid ones", arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func encodings(_ encoding: String) throws {
        let store = try folder.makeStore(
            """
            PRAGMA encoding = '\(encoding)';
            CREATE TABLE t (a, b);
            INSERT INTO t VALUES ('grün 🦊', CAST(x'66ff00d8' AS TEXT)), (CAST(x'c3' AS TEXT), CAST(x'00d800d8' AS TEXT)),
                ('', CAST(x'ef' AS TEXT)), ('a' || char(0) || 'b', 'e' || char(0x301))
            """
        )
        #expect(try expectRows(of: store, columns: 2) == 4)
    }

    @Test("A row may have as many columns as SQLite allows")
    func manyColumns() throws {
        let count = 2000
        let names = (0..<count).map { "c\($0)" }.joined(separator: ",")
        let values = (0..<count).map { $0 % 3 == 0 ? "NULL" : "\($0 * $0)" }.joined(separator: ",")
        let store = try folder.makeStore("CREATE TABLE t (\(names)); INSERT INTO t VALUES (\(values))")
        #expect(try expectRows(of: store, columns: count) == 1)
    }

    @Test("Random rows are as stored")
    func random() throws {
        var generator = SeededGenerator(seed: Seed.current)
        let rows = (0..<300)
            .map { _ in
                let values = (0..<5)
                    .map { _ in
                        switch Int.random(in: 0..<5, using: &generator) {
                        case 0: "NULL"
                        case 1:
                            "\(Int64.random(in: .min...(.max), using: &generator) >> Int64.random(in: 0..<64, using: &generator))"
                        case 2: "\(Double.random(in: -1e9...1e9, using: &generator))"
                        case 3: "substr(hex(randomblob(200)), 1, \(Int.random(in: 0...400, using: &generator)))"
                        default: "randomblob(\(Int.random(in: 1...400, using: &generator)))"
                        }
                    }
                return "(\(values.joined(separator: ",")))"
            }
        let store = try folder.makeStore(
            "CREATE TABLE t (a, b, c, d, e); INSERT INTO t VALUES \(rows.joined(separator: ","))"
        )
        #expect(try expectRows(of: store, columns: 5) == rows.count)
    }
}
