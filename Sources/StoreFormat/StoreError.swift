/// An error that stopped work on one store.
///
/// The message names files, tables and entities, never the values of a user's row.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong, as far as a caller can act on it.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// Another process holds a lock beyond the deadline, or this process has the store open.
        public static let busy = Code(rawValue: "busy")
        /// Nothing is there.
        public static let notFound = Code(rawValue: "notFound")
        /// It is there and cannot be read: permission, kind of file.
        public static let unreadable = Code(rawValue: "unreadable")
        /// It is not an SQLite database.
        public static let notADatabase = Code(rawValue: "notADatabase")
        /// It is a file of zero bytes, or will be once the change is undone that its writer did not finish.
        public static let emptyFile = Code(rawValue: "emptyFile")
        /// Pages are damaged, or the file is shorter than its header says.
        public static let damaged = Code(rawValue: "damaged")
        /// A row is larger than may be read at once.
        public static let valueTooLarge = Code(rawValue: "valueTooLarge")
        /// It cannot be written.
        public static let notWritable = Code(rawValue: "notWritable")
        /// The disk or the quota is full.
        public static let noSpace = Code(rawValue: "noSpace")
        /// This process, or all together, have as many files open as the kernel allows.
        public static let tooManyOpenFiles = Code(rawValue: "tooManyOpenFiles")
        /// The kernel reported an input or output error.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// The store changed while it was read.
        public static let changedMeanwhile = Code(rawValue: "changedMeanwhile")
        /// Writers of the store are refused since its data went to another one.
        public static let fenced = Code(rawValue: "fenced")
        /// Another store's content took the place of the store that was opened.
        public static let replaced = Code(rawValue: "replaced")
        /// What is asked does not fit the store.
        public static let incompatible = Code(rawValue: "incompatible")
        /// The store needs a collation or a function that only its own programs define; that says nothing against it.
        public static let lacksDefinition = Code(rawValue: "lacksDefinition")
        /// The caller asked to stop.
        public static let cancelled = Code(rawValue: "cancelled")
        /// Anything else.
        public static let failed = Code(rawValue: "failed")
    }

    public let code: Code
    /// The file it is about; empty when it is about none.
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
