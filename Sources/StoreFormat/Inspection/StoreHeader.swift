/// The relevant fields of an SQLite database header, the first hundred bytes.
///
/// Source: "Database File Format", section 1.3, of SQLite's documentation.
public struct StoreHeader: Hashable, Sendable {
    /// How changes become durable.
    public enum JournalMode: String, Sendable, Codable {
        case wal
        case rollback
    }

    /// The size of one page in bytes.
    public let pageSize: Int
    public let journalMode: JournalMode
    /// The number of pages in the header; nil if it is not valid for this version of the file.
    public let pageCount: Int64?
    public let changeCounter: UInt32
    public let schemaCookie: UInt32
    public let userVersion: Int32
    public let applicationID: Int32

    package init(
        pageSize: Int,
        journalMode: JournalMode,
        pageCount: Int64?,
        changeCounter: UInt32,
        schemaCookie: UInt32,
        userVersion: Int32,
        applicationID: Int32
    ) {
        self.pageSize = pageSize
        self.journalMode = journalMode
        self.pageCount = pageCount
        self.changeCounter = changeCounter
        self.schemaCookie = schemaCookie
        self.userVersion = userVersion
        self.applicationID = applicationID
    }
}
