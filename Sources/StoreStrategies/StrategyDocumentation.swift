/// What a strategy says about itself; `strategies show` prints it word by word.
public struct StrategyDocumentation: Hashable, Sendable, Codable {
    /// An option that the user may give.
    public struct Option: Hashable, Sendable, Codable {
        public var name: String
        /// One sentence.
        public var summary: String
        /// The value when it is not given; nil when nothing is set then.
        public var defaultValue: String?
        /// The values it accepts, when they can be listed; else empty.
        public var values: [String]

        public init(_ name: String, _ summary: String, defaultValue: String? = nil, values: [String] = []) {
            self.name = name
            self.summary = summary
            self.defaultValue = defaultValue
            self.values = values
        }
    }

    /// One sentence.
    public var summary: String
    /// Everything that it may set in a description, for any request.
    public var sets: [DescriptionOption]
    public var options: [Option]
    /// How it is written on a command line, as `SharedAccess:mode=0660`.
    public var example: String
    /// When it does not apply, and why.
    public var notApplicable: String
    /// True when its settings have an effect on Apple's platforms only.
    public var isForApplePlatforms: Bool
    /// True when its answer does not depend on the strategies before it.
    public var isOrderIndependent: Bool

    public init(
        summary: String,
        sets: [DescriptionOption],
        options: [Option] = [],
        example: String,
        notApplicable: String,
        isForApplePlatforms: Bool = false,
        isOrderIndependent: Bool = true
    ) {
        self.summary = summary
        self.sets = sets
        self.options = options
        self.example = example
        self.notApplicable = notApplicable
        self.isForApplePlatforms = isForApplePlatforms
        self.isOrderIndependent = isOrderIndependent
    }
}

extension StrategyDocumentation {
    /// Decodes it; options may be missing, and a missing flag is false.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            summary: try container.decode(String.self, forKey: .summary),
            sets: try container.decode([DescriptionOption].self, forKey: .sets),
            options: try container.decodeIfPresent([Option].self, forKey: .options) ?? [],
            example: try container.decode(String.self, forKey: .example),
            notApplicable: try container.decode(String.self, forKey: .notApplicable),
            isForApplePlatforms: try container.decodeIfPresent(Bool.self, forKey: .isForApplePlatforms) ?? false,
            isOrderIndependent: try container.decodeIfPresent(Bool.self, forKey: .isOrderIndependent) ?? false
        )
    }
}

extension StrategyDocumentation.Option {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(String.self, forKey: .name),
            try container.decode(String.self, forKey: .summary),
            defaultValue: try container.decodeIfPresent(String.self, forKey: .defaultValue),
            values: try container.decodeIfPresent([String].self, forKey: .values) ?? []
        )
    }
}

extension StrategyDocumentation {
    private static let longestValue = 64
    private static let longestText = 1000
    private static let mostOptions = 64

    /// What is wrong with it, as a fragment that can follow a colon; nil when it is sound.
    ///
    /// A plugin's documentation is untrusted, is printed, and decides what the plugin may set.
    package var objection: String? {
        for (what, text) in [("summary", summary), ("notApplicable", notApplicable), ("example", example)]
        where !Self.isPlain(text, atMost: Self.longestText) {
            return "its \(what) is empty, too long or no plain text"
        }
        guard options.count <= Self.mostOptions, sets.count <= Self.mostOptions else {
            return "it has more than \(Self.mostOptions) options"
        }
        if let option = sets.first(where: { !$0.isSettable }) {
            return option == .allPragmas
                ? "it names sqlitePragmas as a whole: list each pragma as sqlitePragmas.<name>, for example"
                    + " sqlitePragmas.journal_mode"
                : "it wants to set \(option), which no strategy may set"
        }
        if let option = options.first(where: { !StrategyName.isValid($0.name) }) {
            return "'\(option.name)' is no name of an option"
        }
        if Set(options.map(\.name)).count != options.count { return "two of its options have one name" }
        for option in options {
            let values = option.values + [option.defaultValue].compactMap(\.self)
            guard Self.isPlain(option.summary, atMost: Self.longestText) else {
                return "the summary of the option \(option.name) is empty, too long or no plain text"
            }
            guard values.count <= Self.mostOptions + 1,
                values.allSatisfy({ Self.isPlain($0, atMost: Self.longestValue) })
            else { return "the values of the option \(option.name) are too many, too long or no plain text" }
        }
        return nil
    }

    private static func isPlain(_ text: String, atMost count: Int) -> Bool {
        (1...count).contains(text.unicodeScalars.count) && text.unicodeScalars.allSatisfy(PlainText.isPlain)
    }
}

/// Text without invisible or reordering characters.
enum PlainText {
    /// False for control characters, for characters that change the direction of text, and for unassigned ones.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
        default: true
        }
    }
}
