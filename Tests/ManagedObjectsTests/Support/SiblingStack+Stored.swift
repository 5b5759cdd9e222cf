import ManagedObjects
import StoreAccess
import TestSupport
import Testing

extension SiblingStack {
    /// The result of a statement on the store's tables, without any cache.
    func stored(_ sql: String) throws -> SQLValue? {
        try StoreConnection(location, access: .liveReading).value(sql)
    }

    /// Changes the store's tables from another process, without a notice to contexts here.
    func elsewhere(_ statements: String...) throws {
        let process = try StoreWriterProcess(location.path)
        for statement in statements { #expect(try process.execute(statement).hasPrefix("ok")) }
        _ = process.waitForExit()
    }
}
