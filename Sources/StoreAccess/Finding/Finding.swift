/// A remark about a store; a problem that stops the work is an error instead.
///
/// A finding names files, tables and entities, never the values of a user's row.
public struct Finding: Hashable, Sendable, Codable {
    /// The importance of a finding.
    public enum Severity: String, Sendable, Codable, Comparable {
        /// Information; nothing is wrong.
        case info
        /// Present in the source already, so it is not a failure of the copy.
        case inherited
        /// To be checked by a user.
        case warning
        /// The store is wrong.
        case error

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .info: 0
            case .inherited: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    /// The stable name of a kind of finding, in lower camel case; each is declared beside the check that reports it.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }
    }

    public let code: Code
    public var severity: Severity
    /// The level of proof that found it.
    public let level: VerificationLevel
    /// One sentence without a final full stop.
    public let message: String
    /// The file that it concerns, if any.
    public var path: String?
    public var entity: String?
    public var table: String?
    /// The primary key of the row that it concerns.
    public var key: Int64?

    public init(
        _ code: Code,
        _ severity: Severity,
        level: VerificationLevel,
        _ message: String,
        path: String? = nil,
        entity: String? = nil,
        table: String? = nil,
        key: Int64? = nil
    ) {
        self.code = code
        self.severity = severity
        self.level = level
        self.message = message
        self.path = path
        self.entity = entity
        self.table = table
        self.key = key
    }

    /// The same finding, marked as present in the source already.
    public var inherited: Finding {
        var copy = self
        copy.severity = min(.inherited, severity)
        return copy
    }
}

/// The extent of a proof; every level includes the ones before it.
public enum VerificationLevel: String, Sendable, Codable, CaseIterable, Comparable {
    /// The store's files exist, are of the right kind, and include no foreign ones.
    case files
    /// SQLite's structure: pages, records, and every index equal to its table.
    case sqlite
    /// Core Data's invariants of rows, keys, relationships, metadata and history.
    case coredata
    /// Every value of every row equals the other store's.
    case content
    /// Changes that one role saves arrive in another role's contexts, shown on a scratch copy of some of the store's
    /// objects.
    case merging

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .files: 0
        case .sqlite: 1
        case .coredata: 2
        case .content: 3
        case .merging: 4
        }
    }
}
