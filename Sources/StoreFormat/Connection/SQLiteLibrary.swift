import CSQLite

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
