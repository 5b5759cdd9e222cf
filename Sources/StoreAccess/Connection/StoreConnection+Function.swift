internal import CSQLite

extension StoreConnection {
    /// Installs a function for the statements of this connection; it replaces one with the same name and number of
    /// arguments.
    package func install(_ function: SQLFunction) throws(StoreError) {
        let handle = try openHandle()
        let code = sqlite3_create_function_v2(
            handle,
            function.name,
            Int32(clamping: function.argumentCount),
            // Direct only: the schema of a hostile file cannot call it.
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
            Unmanaged.passRetained(FunctionBox(function.body)).toOpaque(),
            { context, count, values in
                guard let context, let data = sqlite3_user_data(context) else { return }
                let box = Unmanaged<FunctionBox>.fromOpaque(data).takeUnretainedValue()
                let arguments = UnsafeBufferPointer(start: values, count: values == nil ? 0 : Int(count))
                do {
                    FunctionBox.set(try box.body(arguments.map { SQLValue(copying: $0) }), on: context)
                } catch {
                    sqlite3_result_error(context, "\(error)", -1)
                }
            },
            nil,
            nil,
            // SQLite calls the destructor also if the registration itself fails.
            { data in
                guard let data else { return }
                Unmanaged<FunctionBox>.fromOpaque(data).release()
            }
        )
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: handle).error(path: location.path) }
    }
}

/// Keeps a function alive while SQLite may call it, and converts its values.
private final class FunctionBox: Sendable {
    let body: @Sendable ([SQLValue]) throws -> SQLValue

    init(_ body: @escaping @Sendable ([SQLValue]) throws -> SQLValue) {
        self.body = body
    }

    static func set(_ value: SQLValue, on context: OpaquePointer) {
        // SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: sqlite3_result_null(context)
        // Arguments are read whole, and so no function has such a result.
        case .large: sqlite3_result_error_code(context, SQLITE_MISUSE)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .text(let text):
            text.withSQLiteBytes { sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), copied, $1) }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_result_zeroblob(context, 0) }
            bytes.withUnsafeBytes { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), copied) }
        }
    }
}

/// A function that SQL statements may call once it is installed on a connection.
///
/// It must be pure: equal arguments give equal results. Schemas, triggers and views cannot call it.
package struct SQLFunction: Sendable {
    package let name: String
    package let argumentCount: Int
    /// An error ends the statement, which reports the error's own text.
    package let body: @Sendable ([SQLValue]) throws -> SQLValue

    package init(name: String, argumentCount: Int, body: @escaping @Sendable ([SQLValue]) throws -> SQLValue) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }
}
