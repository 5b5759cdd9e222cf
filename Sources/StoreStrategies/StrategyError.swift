internal import NearNames

/// Why the strategies failed, before anything was written; one line with the strategies and the option.
public struct StrategyError: Error, Hashable, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable {
        fileprivate enum Storage {
            case unknownStrategy, unknownOption, invalidOption, conflict, notApplicable, notOffered, disagreement
            case failed, cancelled
        }

        fileprivate let storage: Storage

        /// No strategy has that name.
        public static let unknownStrategy = Code(storage: .unknownStrategy)
        /// The strategy has no option of that name.
        public static let unknownOption = Code(storage: .unknownOption)
        /// The option does not take that value.
        public static let invalidOption = Code(storage: .invalidOption)
        /// Two strategies set one option to different values.
        public static let conflict = Code(storage: .conflict)
        /// A strategy that was asked for applies to no role.
        public static let notApplicable = Code(storage: .notApplicable)
        /// A strategy set what it may not set.
        public static let notOffered = Code(storage: .notOffered)
        /// The descriptions of different roles do not go together.
        public static let disagreement = Code(storage: .disagreement)
        /// A strategy could not answer.
        public static let failed = Code(storage: .failed)
        /// The caller cancelled the question.
        public static let cancelled = Code(storage: .cancelled)
    }

    public let code: Code
    /// A lower-case fragment that names the strategies and the option.
    public let message: String
    /// What to do about it: an imperative sentence.
    public let recoverySuggestion: String

    /// Creates an error; without a suggestion it has that of its kind.
    public init(_ code: Code, _ message: String, recoverySuggestion: String? = nil) {
        self.code = code
        self.message = message
        self.recoverySuggestion = recoverySuggestion ?? code.recoverySuggestion
    }
}

extension StrategyError.Code {
    fileprivate var recoverySuggestion: String {
        switch storage {
        case .unknownStrategy: "See 'store-migrate strategies list'."
        case .unknownOption, .invalidOption: "See 'store-migrate strategies show' with the strategy's name."
        case .conflict: "Name only one of them, or give both the same value."
        case .notApplicable: "Leave it out, or name a role that it applies to."
        case .notOffered: "Do not use this strategy; report it to its author."
        case .disagreement: "Give all roles the same value."
        case .cancelled: "Run the command again."
        case .failed: "Fix what the strategy reports, or leave the strategy out."
        }
    }
}

extension StrategyError: CustomStringConvertible {
    public var description: String { message }
}

extension StrategyError {
    /// A name that no strategy has; the message has the name that is probably meant, or all names.
    public static func unknownStrategy(_ name: String, among names: [String]) -> Self {
        let hint = NearName.hint(name, among: names.sorted(), list: "there are")
        return Self(.unknownStrategy, "there is no strategy '\(name)'; \(hint)")
    }

    /// An option that does not take a value.
    public static func invalidOption(_ option: String, _ value: String, of strategy: String, expected: String) -> Self {
        Self(.invalidOption, "\(strategy): '\(value)' is no value of the option \(option); it takes \(expected)")
    }
}
