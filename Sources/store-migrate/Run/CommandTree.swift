import ArgumentParser

/// The verbs, looked up by the words of a call that may not parse.
enum CommandTree {
    /// The words that name a command, as far as they do.
    static func name(of words: [String]) -> [String] { resolve(words).names }

    /// The verb that the words name, if they name one.
    static func verb(of words: [String]) -> (any Verb.Type)? { resolve(words).command as? any Verb.Type }

    /// The words of every command that does something for a user; the default of a group needs no word of its own.
    static func names(below command: any ParsableCommand.Type) -> [[String]] {
        let subcommands = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        guard !subcommands.isEmpty else { return [[]] }
        return subcommands.flatMap { subcommand in
            let isDefault = command.configuration.defaultSubcommand == subcommand
            let words = isDefault ? [] : [subcommand.configuration.commandName ?? ""]
            return names(below: subcommand).map { words + $0 }
        }
    }

    /// The first word that should name a command and names none.
    static func unknownName(in words: [String]) -> String? { resolve(words).stranger }

    private struct Resolution {
        var names: [String] = []
        var command: any ParsableCommand.Type = StoreMigrate.self
        var stranger: String?
    }

    private static func resolve(_ words: [String]) -> Resolution {
        var resolution = Resolution()
        for word in words where !word.hasPrefix("-") && !(resolution.names.isEmpty && word == "help") {
            let commands = resolution.command.configuration.subcommands
            guard let match = commands.first(where: { $0.configuration.commandName == word }) else {
                let isComplete = commands.isEmpty || resolution.command.configuration.defaultSubcommand != nil
                resolution.stranger = isComplete ? nil : word
                break
            }
            resolution.command = match
            resolution.names.append(word)
        }
        if let command = resolution.command.configuration.defaultSubcommand { resolution.command = command }
        return resolution
    }
}
