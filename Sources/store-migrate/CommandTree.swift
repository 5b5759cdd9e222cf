import ArgumentParser
import NearNames

/// Finds verbs by the arguments of a call, also when they do not parse.
enum CommandTree {
    /// The longest prefix of the words that names a command.
    static func name(of words: [String]) -> [String] { resolve(words).names }

    /// The verb that the words name, if any.
    static func verb(of words: [String]) -> (any Verb.Type)? { resolve(words).command as? any Verb.Type }

    /// The words of every visible command; the default command of a group has no word.
    static func names(below command: any ParsableCommand.Type) -> [[String]] {
        let subcommands = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        guard !subcommands.isEmpty else { return [[]] }
        return subcommands.flatMap { subcommand in
            let isDefault = command.configuration.defaultSubcommand == subcommand
            let words = isDefault ? [] : [subcommand.configuration.commandName ?? ""]
            return names(below: subcommand).map { words + $0 }
        }
    }

    /// Says which word in the position of a command name is not one, and which command it may mean; nil without such a
    /// word.
    static func unknownName(in words: [String]) -> String? {
        let resolution = resolve(words)
        return resolution.unknownName.map { word in
            let near = NearName.of(word, among: names(below: resolution.command).compactMap(\.first))
            return "there is no command '\(word)'" + (near.map { "; did you mean '\($0)'?" } ?? "")
        }
    }

    private struct Resolution {
        var names: [String] = []
        var command: any ParsableCommand.Type = StoreMigrate.self
        var unknownName: String?
    }

    private static func resolve(_ words: [String]) -> Resolution {
        var resolution = Resolution()
        for word in words where !word.hasPrefix("-") && !(resolution.names.isEmpty && word == "help") {
            let commands = resolution.command.configuration.subcommands
            guard let match = commands.first(where: { $0.configuration.commandName == word }) else {
                let isComplete = commands.isEmpty || resolution.command.configuration.defaultSubcommand != nil
                resolution.unknownName = isComplete ? nil : word
                break
            }
            resolution.command = match
            resolution.names.append(word)
        }
        if let command = resolution.command.configuration.defaultSubcommand { resolution.command = command }
        return resolution
    }
}
