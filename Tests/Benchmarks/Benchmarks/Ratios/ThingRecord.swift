import Foundation
import GRDB

/// A thing for GRDB, read in the faster of its manual's two ways: by names, without `Codable`.
struct ThingRecord: FetchableRecord, TableRecord {
    static let databaseTableName = "ZTHING"

    let key: Int64
    let version: Int64
    let number: Int64?
    let name: String?
    let note: String?
    let isEven: Bool?
    let at: Double?
    let weight: Double?
    let box: Int64?

    init(row: Row) throws {
        key = row["Z_PK"]
        version = row["Z_OPT"]
        number = row["ZNUMBER"]
        name = row["ZNAME"]
        note = row["ZNOTE"]
        isEven = row["ZISEVEN"]
        at = row["ZAT"]
        weight = row["ZWEIGHT"]
        box = row["ZBOX"]
    }

    /// Reads all things of a store, in the order of their numbers; returns the duration, too.
    static func all(in url: URL) throws -> ([ThingRecord], Duration) {
        let queue = try DatabaseQueue(path: url.path)
        let clock = ContinuousClock()
        let start = clock.now
        let records = try queue.read { try ThingRecord.order(Column("ZNUMBER")).fetchAll($0) }
        let duration = start.duration(to: clock.now)
        try queue.close()
        return (records, duration)
    }
}
