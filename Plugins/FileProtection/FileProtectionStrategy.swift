public import StoreStrategies

/// Sets the class of file protection that the store's files have on Apple's platforms.
public struct FileProtectionStrategy: StoreStrategy {
    private static let classes = PersistentStoreDescription.FileProtection.allCases.map {
        (word: word(for: $0), value: $0)
    }

    public let name = "FileProtection"

    public let documentation = StrategyDocumentation(
        summary: "Sets the class of file protection that the store's files have on Apple's platforms.",
        sets: [.fileProtection],
        options: [
            StrategyDocumentation.Option(
                "class",
                "The class; with complete, an extension that runs while the device is locked cannot open the store.",
                defaultValue: "complete-until-first-user-authentication",
                values: classes.map(\.word)
            )
        ],
        example: "FileProtection:class=complete-unless-open",
        notApplicable: "It applies to every store; it takes effect on Apple's platforms, and changes no file here.",
        isForApplePlatforms: true
    )

    public init() {}

    /// The value of the option `class` for a class of file protection.
    public static func word(for protection: PersistentStoreDescription.FileProtection) -> String {
        switch protection {
        case .complete: "complete"
        case .completeUnlessOpen: "complete-unless-open"
        case .completeUntilFirstUserAuthentication: "complete-until-first-user-authentication"
        case .none: "none"
        }
    }

    public func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        let word = try request.options.word("class", of: name, among: Self.classes.map(\.word))
        var changes = DescriptionChanges()
        changes.fileProtection =
            Self.classes.first { $0.word == word }?.value ?? .completeUntilFirstUserAuthentication
        return changes
    }
}
