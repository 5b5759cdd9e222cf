internal import CSQLite
internal import Glibc
package import SafeFiles
internal import Synchronization
internal import SystemPackage

/// SQLite's connection to a vetted main file; no other code in the package opens a database file.
///
/// Its statements retain it, so that it outlives them and every callback of SQLite.
final class SQLiteDatabase {
    /// SQLite's handle; valid until the connection is closed.
    let handle: OpaquePointer
    private(set) var isClosed = false
    private let path: String
    private var wait: BusyWait?
    private var budget: StepBudget?

    /// Opens the file without reading it: a file that replaced the store meanwhile is neither read nor recovered.
    init(_ vetted: VettedFile, for access: StoreConnection.Access, path: String) throws {
        try SQLiteLibrary.requireFitness(toOpen: path)
        self.path = path
        handle = try vetted.opening { try Self.open(vetted, for: access, path: path) }
        try vetted.requireUnchanged(isMoved: csqlite_has_moved(handle) != 0)
    }

    deinit {
        if !isClosed { sqlite3_close_v2(handle) }
    }

    private static func open(
        _ vetted: VettedFile,
        for access: StoreConnection.Access,
        path: String
    ) throws -> OpaquePointer {
        var handle: OpaquePointer?
        let mode = access.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let flags = mode | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let uri = StoreURI.string(path: vetted.path, parameters: access.uriParameters)
        let code = sqlite3_open_v2(uri, &handle, flags, CSQLITE_FILE_SYSTEM)
        guard code == SQLITE_OK, let handle else {
            defer { sqlite3_close_v2(handle) }
            if code & 0xff == SQLITE_CANTOPEN, let handle, sqlite3_system_errno(handle) != 0 {
                throw UnreadableStore.error(for: Errno(rawValue: sqlite3_system_errno(handle)), path: path)
            }
            throw SQLiteResult(code: code, of: handle).error(path: path)
        }
        sqlite3_extended_result_codes(handle, 1)
        return handle
    }

    /// Applies the settings of the access and reads the schema, which rejects a file that is not a database.
    func prepare(for access: StoreConnection.Access, wait: BusyWait, budget: StepBudget) throws(StoreError) {
        (self.wait, self.budget) = (wait, budget)
        wait.install(on: handle)
        access.harden(handle)
        if access != .liveWriting { budget.allow(forBytes: csqlite_file_size(handle, CSQLiteFileMain)) }
        // Before the pragmas, because `synchronous` reads the schema.
        budget.install(on: handle)
        for pragma in access.pragmas { try execute("PRAGMA " + pragma) }
        try execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    }

    /// Executes a statement, and trusts a schema that SQLite refuses only because it calls JSON functions.
    ///
    /// Functions that this package adds are direct only or harmless, so the schema cannot call others with effects.
    private func execute(_ sql: String) throws(StoreError) {
        var code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK, SQLiteResult(code: code, of: handle).refusesHarmlessFunction {
            csqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
            code = sqlite3_exec(handle, sql, nil, nil, nil)
        }
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: handle).error(path: path) }
    }

    /// Closes the connection; fails while one of its statements is in use.
    func close() throws(StoreError) {
        let code = sqlite3_close(handle)
        guard code == SQLITE_OK else { throw SQLiteResult(code: code, of: handle).error(path: path) }
        isClosed = true
    }
}

/// The loaded SQLite library: its version and its compile options.
public enum SQLiteLibrary {
    /// The version of the library that is loaded.
    public static var version: String { String(cString: sqlite3_libversion()) }

    /// The version of the header that this package was built against.
    public static var headerVersion: String { SQLITE_VERSION }

    /// The date and check-in of the source that the loaded library was made from.
    public static var sourceID: String { String(cString: sqlite3_sourceid()) }

    /// The version as one number: 3.40.1 is 3040001.
    public static var versionNumber: Int { Int(sqlite3_libversion_number()) }

    /// The options the library was compiled with, without their `SQLITE_` prefix.
    public static var compileOptions: [String] {
        var options: [String] = []
        var index: Int32 = 0
        while let name = sqlite3_compileoption_get(index) {
            options.append(String(cString: name))
            index += 1
        }
        return options
    }

    /// True if two connections that write and checkpoint at the same time can lose a reset log.
    ///
    /// Versions 3.7.0 to 3.51.2 have that defect; a program that never checkpoints a store that other processes may
    /// have open is not affected.
    public static var hasLogResetDefect: Bool { (3_007_000...3_051_002).contains(versionNumber) }

    /// Why no store can be opened with the loaded library; nil if it is usable.
    ///
    /// Registers the file system that connections open their files through.
    static let obstacle: String? =
        if csqlite_register_file_system() != SQLITE_OK {
            "this build of SQLite does not support a file system of its caller's"
        } else {
            nil
        }

    /// Throws if no store can be opened with the loaded library; called before every opening.
    static func requireFitness(toOpen path: String) throws(StoreError) {
        guard let obstacle else { return }
        throw StoreError(.failed, path: path, obstacle)
    }
}

/// How a connection waits for a lock: in steps of about a millisecond with jitter, until the current call's deadline.
///
/// Without jitter, waiting processes retried at the same instants, which starved one of them in trials.
package final class BusyWait: Sendable {
    private let limits: Mutex<(deadline: Deadline, monitor: WorkMonitor)>

    /// Limits waits to the deadline, and to the time until the monitor is asked to stop.
    package init(until deadline: Deadline, _ monitor: WorkMonitor = .silent) {
        limits = Mutex((deadline, monitor))
    }

    /// Installs this as SQLite's busy handler; the connection retains it.
    func install(on connection: OpaquePointer) {
        sqlite3_busy_handler(
            connection,
            { context, _ in
                guard let context else { return 0 }
                return Unmanaged<BusyWait>.fromOpaque(context).takeUnretainedValue().step() ? 1 : 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Sets the deadline of later waits; they end early when the monitor is asked to stop.
    func begin(until deadline: Deadline, _ monitor: WorkMonitor) {
        limits.withLock { $0 = (deadline, monitor) }
    }

    /// Waits for one step; returns false, at once, if the deadline has passed or the caller asked to stop.
    package func step() -> Bool {
        let (deadline, monitor) = limits.withLock { $0 }
        guard !deadline.hasPassed, (try? monitor.checkCancellation()) != nil else { return false }
        var pause = timespec(tv_sec: 0, tv_nsec: Int.random(in: 500_000...1_500_000))
        _ = pselect(0, nil, nil, nil, &pause, nil)
        return true
    }
}
