import CSQLite
import StoreAccess

/// The functions that Core Data's triggers call to report which rows they changed (COREDATA §1.6).
///
/// Without them every write that fires such a trigger fails. They change nothing themselves.
final class TriggerFunctions {
    /// A value that a trigger changed in addition to the statement.
    struct Affected: Hashable {
        let entity: Int64
        let primaryKey: Int64
        /// The name of the property, or of its column: the triggers use either.
        let property: String
    }

    private static let names = [
        "NSCoreDataTriggerUpdateAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
        "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    ]

    private var affected: [Affected] = []

    /// Registers the functions and enables triggers; the connection retains this object as long as it may call them.
    ///
    /// Triggers also maintain spatial indexes, but SQLite forbids triggers to write virtual tables while the schema is
    /// untrusted. The schema is trusted only if the R*Tree module, which writes only its own tables, is the only module
    /// in use.
    init(on connection: StoreConnection, schema: StoreSchema) throws(StoreError) {
        let modules = schema.tables.compactMap {
            if case .virtual(let module) = $0.kind { module.lowercased() } else { nil }
        }
        let code = connection.withHandle { handle in
            csqlite_configure(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
            if Set(modules) == ["rtree"] { csqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1) }
            for name in Self.names {
                let code = sqlite3_create_function_v2(
                    handle,
                    name,
                    -1,
                    SQLITE_UTF8 | SQLITE_INNOCUOUS,
                    Unmanaged.passRetained(self).toOpaque(),
                    { context, count, values in TriggerFunctions.call(context, count, values) },
                    nil,
                    nil,
                    { pointer in pointer.map { Unmanaged<TriggerFunctions>.fromOpaque($0).release() } }
                )
                guard code == SQLITE_OK else { return code }
            }
            return SQLITE_OK
        }
        guard code == SQLITE_OK else {
            throw StoreError(.failed, path: connection.location.path, "SQLite rejected the functions (code \(code))")
        }
    }

    /// Returns the changes of triggers since the last call.
    func take() -> [Affected] {
        defer { affected.removeAll() }
        return affected
    }

    /// The arguments are table, entity, primary key, property and value.
    private static func call(
        _ context: OpaquePointer?,
        _ count: Int32,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        guard let context, let values, count >= 4, let pointer = sqlite3_user_data(context),
            let text = sqlite3_value_text(values[3])
        else { return }
        let functions = Unmanaged<TriggerFunctions>.fromOpaque(pointer).takeUnretainedValue()
        functions.affected.append(
            Affected(
                entity: sqlite3_value_int64(values[1]),
                primaryKey: sqlite3_value_int64(values[2]),
                property: String(cString: text)
            )
        )
    }
}
