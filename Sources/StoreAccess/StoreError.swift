/// An error that stopped work on one store.
///
/// The message names files, tables and entities, never the values of a user's row.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, as far as a caller can act on it.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// Another process holds a lock beyond the deadline, this process has the store open, or a killed process left a
        /// transaction half written that a read-only caller may not roll back.
        public static let busy = Code(rawValue: "busy")
        /// The file or folder does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The file cannot be read: permission, or kind of file.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The file is not an SQLite database.
        public static let notADatabase = Code(rawValue: "notADatabase")
        /// The file has zero bytes, or will have after the rollback of an interrupted first transaction.
        public static let emptyFile = Code(rawValue: "emptyFile")
        /// Pages are damaged, or the file is shorter than its header says.
        public static let damaged = Code(rawValue: "damaged")
        /// A row is larger than the limit for reading.
        public static let valueTooLarge = Code(rawValue: "valueTooLarge")
        /// The file cannot be written.
        public static let notWritable = Code(rawValue: "notWritable")
        /// The disk or the quota is full.
        public static let noSpace = Code(rawValue: "noSpace")
        /// This process, or the whole system, has reached the limit of open files.
        public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
        /// The kernel reported an input or output error.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// The store changed while it was read.
        public static let changedMeanwhile = Code(rawValue: "changedMeanwhile")
        /// Writers are refused, because the store's data was moved to another store.
        public static let fenced = Code(rawValue: "fenced")
        /// Another store's content replaced the opened one.
        public static let replaced = Code(rawValue: "replaced")
        /// The request does not match the store.
        public static let incompatible = Code(rawValue: "incompatible")
        /// The request needs entities or history, and the store is a plain SQLite database.
        public static let plainStore = Code(rawValue: "plainStore")
        /// The store needs a collation or a function that only its own programs define; the store is not damaged.
        public static let lacksDefinition = Code(rawValue: "lacksDefinition")
        /// The caller asked to stop.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The caller's settings do not fit the model, for example an attribute that it lacks.
        public static let wrongSettings = Code(rawValue: "wrongSettings")
        /// Any other error.
        public static let failed = Code(rawValue: "failed")
    }

    public let code: Code
    /// The file that it concerns; empty if there is none.
    public let path: String
    /// A lower-case fragment that says what failed.
    public let message: String

    public init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    public var description: String { path.isEmpty ? message : "\(message): \(path)" }
}
