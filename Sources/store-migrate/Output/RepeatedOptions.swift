import StoreMigration

/// The options of a call that its printed next commands repeat, so that they decide as the call did.
struct RepeatedOptions {
    private struct Option {
        let name: String
        let words: [String]
    }

    /// Options that only shape the report, or name a path that a next command names as an argument.
    static let left: Set<String> = [
        "--json", "--quiet", "--verbose", "--no-color", "--progress", "--report", "--dry-run", "--check", "--strict",
        "--group", "--name", "--groups", "--state",
    ]
    /// Options without a value that every command over stores takes.
    static let access: Set<String> = ["--allow-network-fs"]
    /// Options without a value.
    static let flags: Set<String> = access.union(["--migrate", "--scan"])
    /// Options of a merge that a share takes, too.
    static let decisions: Set<String> = ["--policy", "--identity", "--resolver"]
    /// How the program of a repeated `--resolver` is confined.
    static let confinement: Set<String> = ["--plugin-sandbox", "--plugin-timeout"]
    /// Options that name a file or a folder: a next command may be typed in another folder.
    static let paths: Set<String> = [
        "--model", "--backup", "--legacy-defaults", "--plugin-path", "--descriptions", "--config", "--base",
        "--previous", "--confirm", "--resolver",
    ]
    /// Commands that a call of the same name leads to with another aim.
    static let reading: Set<String?> = ["inspect", "verify", "diff"]
    /// Names a file after a role.
    static let role = "--role"

    private let verb: String?
    private let options: [Option]
    private let stateFolder: String?
    /// The location that the call names first, and its other ones; nil without others.
    private let locations: (first: String, others: [String])?

    /// Reads the arguments of a valid call, which names `old` and, with `--previous`, other locations of the old store.
    init(of words: [String] = [], stateFolder: String?, old: String? = nil, previous: [String] = []) {
        self.stateFolder = stateFolder
        // A plan decides as the share that follows it.
        verb = words.first == "plan" ? "share" : words.first
        locations = previous.isEmpty ? nil : old.map { ($0, previous) }
        var rest = words.prefix { $0 != "--" }[...]
        var options: [Option] = []
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("--"), let name = parts.first else { continue }
            // The word after an option without a value belongs to another option, or is an argument, which is not repeated.
            let isComplete = parts.count == 2 || Self.flags.contains(name) || rest.first?.hasPrefix("-") != false
            let words =
                parts.count == 2
                ? ["\(name)=\(Self.value(parts[1], of: name))"]
                : [name] + (isComplete ? [] : rest.popFirst().map { [Self.value($0, of: name)] } ?? [])
            options.append(Option(name: name, words: words))
        }
        self.options = options
    }

    /// The value with absolute paths.
    private static func value(_ text: String, of name: String) -> String {
        if paths.contains(name) { return PathArgument(argument: text)?.path ?? text }
        guard name == role, let end = text.firstIndex(of: "="),
            let model = PathArgument(argument: String(text[text.index(after: end)...]))
        else { return text }
        return text[...end] + model.path
    }

    /// The share of the store at any of the call's locations is the call itself, with the same first location.
    fileprivate func repeating(_ step: NextStep) -> NextStep {
        guard let locations else { return step }
        switch step {
        case .share(let old, let new, let onBoth, let entities, let model)
        where verb == "share" && locations.others.contains(old):
            return .share(
                old: locations.first,
                new: new,
                onBoth: onBoth,
                identifying: entities,
                migratingTo: model
            )
        case .status(let old, let new) where verb == "status" && locations.others.contains(old):
            return .status(old: locations.first, new: new)
        default: return step
        }
    }

    /// The options for a next command with these words, beside those among the words.
    func options(for words: [String], usesJournal: Bool) -> [String] {
        let repeated = options.filter { !words.contains($0.name) && isRepeated($0.name, by: words.first) }
        return repeated.flatMap(\.words) + (usesJournal ? stateFolder.map { ["--state", $0] } ?? [] : [])
    }

    private func isRepeated(_ name: String, by command: String?) -> Bool {
        guard !Self.left.contains(name) else { return false }
        return (command == verb && !Self.reading.contains(verb)) || Self.access.contains(name)
            || (["share", "merge"].contains(command) && isDecision(name))
    }

    private func isDecision(_ name: String) -> Bool {
        Self.decisions.contains(name)
            || (Self.confinement.contains(name) && options.contains { $0.name == "--resolver" })
    }

    /// The same options with another state folder.
    fileprivate func recorded(in stateFolder: String) -> RepeatedOptions {
        RepeatedOptions(verb: verb, options: options, stateFolder: stateFolder, locations: locations)
    }

    private init(
        verb: String?,
        options: [Option],
        stateFolder: String?,
        locations: (first: String, others: [String])?
    ) {
        (self.verb, self.options, self.stateFolder, self.locations) = (verb, options, stateFolder, locations)
    }
}

extension NextStep {
    /// The command to type after a call with options.
    func command(_ options: RepeatedOptions) -> String {
        if case .inStateFolder(let folder, let step) = self { return step.command(options.recorded(in: folder)) }
        return options.repeating(self).command(options: options.options(for:usesJournal:))
    }
}
