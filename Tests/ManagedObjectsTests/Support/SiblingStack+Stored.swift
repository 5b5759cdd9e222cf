import ManagedObjects
import StoreFormat
import TestSupport
import Testing

extension SiblingStack {
    /// What a statement finds in the store's tables, read past every cache.
    func stored(_ sql: String) throws -> SQLValue? {
        try StoreConnection(location, access: .liveReading).value(sql)
    }

    /// Changes the store's tables from another process, of which no context here hears.
    func elsewhere(_ statements: String...) throws {
        let process = try StoreWriterProcess(location.path)
        for statement in statements { #expect(try process.execute(statement).hasPrefix("ok")) }
        _ = process.waitForExit()
    }
}
