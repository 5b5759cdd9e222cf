import StoreAccess

/// The version of this tool, and of what it was built with.
enum Versions {
    static let tool = "0.2.0"

    /// The compiler's version, as far as conditional compilation shows it.
    static var swift: String {
        #if compiler(>=6.4)
        "6.4 or newer"
        #elseif compiler(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }

    /// What `--version` prints.
    static var text: String {
        """
        store-migrate \(tool)
        SQLite \(SQLiteLibrary.version) (\(SQLiteLibrary.sourceID)), built against \(SQLiteLibrary.headerVersion)
        Swift \(swift)
        """
    }
}
