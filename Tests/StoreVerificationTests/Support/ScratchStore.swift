import CSQLite
import Foundation
import StoreAccess
import Synchronization

/// A small database in its own folder, which tests build with plain SQL and then damage.
///
/// The folders are removed when the tests end, not with the object: a test may keep only the location.
final class ScratchStore {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let folder: URL
    let location: StoreLocation
    private var path: String { location.path }

    init(_ sql: String..., name: String = "Scratch.sqlite") throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "store-verification-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        location = StoreLocation(folder: folder.path, name: name)
        Self.remember(folder)
        for statement in sql { try execute(statement) }
    }

    private static let folders = Mutex<[URL]>([])

    private static func remember(_ folder: URL) {
        let isFirst = folders.withLock { folders in
            folders.append(folder)
            return folders.count == 1
        }
        guard isFirst else { return }
        atexit {
            for folder in ScratchStore.folders.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
        }
    }

    /// Runs statements on a separate connection, without the protections of production code.
    func execute(_ sql: String) throws {
        _ = try rows(sql)
    }

    /// The first column of every row of the statements, as text.
    @discardableResult
    func rows(_ sql: String) throws -> [String] {
        var handle: OpaquePointer?
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else { throw Failure(description: "cannot open") }
        for name in ["NSCoreDataTriggerUpdateAffectedObjectValue"] {
            sqlite3_create_function(handle, name, 5, SQLITE_UTF8, nil, { _, _, _ in }, nil, nil)
        }
        var result: [String] = []
        let code = withUnsafeMutablePointer(to: &result) { result in
            sqlite3_exec(
                handle,
                sql,
                { context, count, values, _ in
                    guard count > 0, let value = values?[0] else { return 0 }
                    context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: value))
                    return 0
                },
                result,
                nil
            )
        }
        guard code == SQLITE_OK else {
            throw Failure(description: "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
        }
        return result
    }

    /// Runs `sql` while an index is missing in the schema, so that the index is not updated.
    func hidingIndex(_ name: String, _ sql: String) throws {
        try execute(
            """
            PRAGMA writable_schema=ON;
            CREATE TABLE hidden AS SELECT * FROM sqlite_schema WHERE name = '\(name)';
            DELETE FROM sqlite_schema WHERE name = '\(name)';
            """
        )
        try execute(sql)
        try execute(
            """
            PRAGMA writable_schema=ON;
            INSERT INTO sqlite_schema SELECT * FROM hidden;
            """
        )
        try execute("DROP TABLE hidden")
    }

    /// Replaces the definition of an index without changing its content.
    func redefineIndex(_ name: String, as sql: String) throws {
        try execute("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = '\(sql)' WHERE name = '\(name)'")
    }

    /// The number of the first page of a table or index.
    func rootPage(of name: String) throws -> Int {
        try Int(rows("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'").first ?? "") ?? 0
    }

    var pageSize: Int { get throws { try Int(rows("PRAGMA page_size").first ?? "") ?? 0 } }

    var bytes: [UInt8] {
        get throws { try [UInt8](Data(contentsOf: URL(filePath: path))) }
    }

    func overwrite(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    /// Changes the bytes of the first page of a table or index.
    func patchPage(of name: String, _ change: (inout ArraySlice<UInt8>) throws -> Void) throws {
        let (page, size) = try (rootPage(of: name), pageSize)
        var bytes = try bytes
        var slice = bytes[(page - 1) * size..<page * size]
        try change(&slice)
        bytes.replaceSubrange((page - 1) * size..<page * size, with: slice)
        try overwrite(bytes)
    }
}

extension ArraySlice<UInt8> {
    /// Flips bits of the first byte at which `text` begins.
    mutating func flip(_ text: String, bits: UInt8) throws {
        let pattern = Array(text.utf8)
        guard let start = indices.first(where: { self[$0...].starts(with: pattern) }) else {
            throw ScratchStore.Failure(description: "no \(text) in the page")
        }
        self[start] ^= bits
    }

    /// Swaps two neighbouring cells of a leaf page, by the pointers to them.
    mutating func swapCells(_ first: Int, _ second: Int) {
        let pointers = startIndex + 8
        for byte in 0..<2 { swapAt(pointers + 2 * first + byte, pointers + 2 * second + byte) }
    }
}
