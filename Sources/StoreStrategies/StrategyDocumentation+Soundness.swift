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
