import CSQLite
import Foundation

/// A database opened by SQLite's C library alone: judges must not use the code that they judge.
package final class PlainStore {
    /// SQLite's error message.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Everything in a database that a share must keep.
    package struct Content: Equatable {
        /// The statements of `sqlite_schema`, and the application's values in the header.
        package var schema: [String]
        /// The rows of every table, typed and sorted.
        package var rows: [String: [String]]
    }

    private let connection: OpaquePointer

    /// Opens a database; an immutable one is read without creating files beside it.
    package init(_ path: String, isImmutable: Bool = false) throws {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_URI | (isImmutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
        let result = sqlite3_open_v2("file:" + escaped + (isImmutable ? "?immutable=1" : ""), &connection, flags, nil)
        guard result == SQLITE_OK, let connection else {
            sqlite3_close_v2(connection)
            throw Failure(description: "cannot open \(path): \(String(cString: sqlite3_errstr(result)))")
        }
        self.connection = connection
    }

    deinit { sqlite3_close_v2(connection) }

    /// Runs statements and discards their rows.
    package func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(description: String(cString: sqlite3_errmsg(connection)))
        }
    }

    /// The rows of a query; each value with its type and all its bits.
    package func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else {
            throw Failure(description: String(cString: sqlite3_errmsg(connection)))
        }
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        var line: [UInt8] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                line.removeAll(keepingCapacity: true)
                for column in 0..<sqlite3_column_count(statement) {
                    if column > 0 { line.append(UInt8(ascii: "|")) }
                    Self.write(statement, column, to: &line)
                }
                rows.append(String(decoding: line, as: UTF8.self))
            case SQLITE_DONE: return rows
            default: throw Failure(description: String(cString: sqlite3_errmsg(connection)))
            }
        }
    }

    /// Appends a value; bytes in hexadecimal, since judges read every row of every store.
    private static func write(_ statement: OpaquePointer?, _ column: Int32, to line: inout [UInt8]) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: line += "i\(sqlite3_column_int64(statement, column))".utf8
        case SQLITE_FLOAT: line += "r\(sqlite3_column_double(statement, column).bitPattern)".utf8
        case SQLITE_NULL: line.append(UInt8(ascii: "n"))
        case let type:
            line.append(type == SQLITE_TEXT ? UInt8(ascii: "t") : UInt8(ascii: "b"))
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, column),
                count: Int(sqlite3_column_bytes(statement, column))
            )
            var isFirst = true
            for byte in bytes {
                if !isFirst { line.append(UInt8(ascii: ",")) }
                isFirst = false
                if byte > 0xF { line.append(digit(byte >> 4)) }
                line.append(digit(byte & 0xF))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Reads everything, optionally without the fence.
    package func content(withoutFence: Bool) throws -> Content {
        let condition = withoutFence ? "WHERE name NOT GLOB '_store_migrate_fence_*'" : ""
        var schema = try rows("SELECT type, name, tbl_name, sql FROM sqlite_schema \(condition) ORDER BY 1, 2")
        for pragma in ["user_version", "application_id", "encoding", "auto_vacuum", "page_size"] {
            schema += try rows("PRAGMA \(pragma)")
        }
        var content = Content(schema: schema, rows: [:])
        for name in try tables() { content.rows[name] = try rows("SELECT * FROM \"\(name)\"").sorted() }
        return content
    }

    /// The names of the ordinary tables.
    package func tables() throws -> [String] {
        let names = try rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")
        return names.compactMap { name in
            // A typed value: the letter, then the bytes in hexadecimal.
            String(
                validating: name.dropFirst().split(separator: ",").compactMap { UInt8($0, radix: 16) },
                as: UTF8.self
            )
        }
    }
}
