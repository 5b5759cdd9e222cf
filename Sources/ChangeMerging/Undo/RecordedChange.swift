import CSQLite
import StoreFormat

/// One row of a recorded merge, inverted: a row that the merge inserted is to be deleted, and vice versa.
struct RecordedChange {
    enum Kind {
        case insert, update, delete
    }

    let kind: Kind
    let table: String
    /// The indices of the primary key's columns.
    let keyColumns: [Int]
    /// The values that the merge wrote and the rollback removes or changes; nil for a column that the merge did not
    /// change.
    let before: [SQLValue?]
    /// The values after the rollback; nil likewise.
    let after: [SQLValue?]

    /// The key of the row.
    var key: [SQLValue] { keyColumns.map { (kind == .insert ? after[$0] : before[$0]) ?? .null } }

    /// The columns whose value changes.
    var columns: [Int] { after.indices.filter { after[$0] != nil && !keyColumns.contains($0) } }

    /// Reads the iterator's current change; nil if it cannot be read.
    init?(_ iterator: OpaquePointer?) {
        var name: UnsafePointer<CChar>?
        var (count, operation, indirect): (Int32, Int32, Int32) = (0, 0, 0)
        var flags: UnsafeMutablePointer<UInt8>?
        guard sqlite3changeset_op(iterator, &name, &count, &operation, &indirect) == SQLITE_OK, let name,
            sqlite3changeset_pk(iterator, &flags, nil) == SQLITE_OK, let flags
        else { return nil }
        table = String(cString: name)
        keyColumns = (0..<Int(count)).filter { flags[$0] != 0 }
        switch operation {
        case SQLITE_INSERT: kind = .insert
        case SQLITE_DELETE: kind = .delete
        default: kind = .update
        }
        let hasBefore = operation != SQLITE_INSERT
        let hasAfter = operation != SQLITE_DELETE
        before = (0..<count).map { hasBefore ? Self.value(iterator, $0, sqlite3changeset_old) : nil }
        after = (0..<count).map { hasAfter ? Self.value(iterator, $0, sqlite3changeset_new) : nil }
    }

    private typealias Getter = (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32

    private static func value(_ iterator: OpaquePointer?, _ column: Int32, _ get: Getter) -> SQLValue? {
        var pointer: OpaquePointer?
        guard get(iterator, column, &pointer) == SQLITE_OK, let pointer else { return nil }
        return SQLValue(copying: pointer)
    }
}

extension RecordingReader {
    /// Calls `body` with each change, inverted, in order.
    func forEachChange(_ body: (RecordedChange) throws -> Void) throws {
        let input = ChangesetInput(self)
        try withExtendedLifetime(input) {
            var iterator: OpaquePointer?
            // SQLITE_CHANGESETSTART_INVERT
            let code = sqlite3changeset_start_v2_strm(&iterator, ChangesetInput.callback, input.pointer, 2)
            defer { sqlite3changeset_finalize(iterator) }
            guard code == SQLITE_OK else { throw input.error ?? damaged("its changes cannot be read") }
            while true {
                let code = sqlite3changeset_next(iterator)
                if code == SQLITE_DONE { return }
                guard code == SQLITE_ROW, let change = RecordedChange(iterator) else {
                    throw input.error ?? damaged("its changes cannot be read")
                }
                try body(change)
            }
        }
    }
}
