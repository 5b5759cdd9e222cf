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
