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
    static let flags: Set<String> = access.union(["--migrate"])

    private let options: [Option]
    private var stateFolder: String?

    /// Reads the arguments of a valid call.
    init(of words: [String] = [], stateFolder: String?) {
        self.stateFolder = stateFolder
        let isSharing = ["share", "plan"].contains(words.first)
        var rest = words.prefix { $0 != "--" }[...]
        var options: [Option] = []
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), let name = word.split(separator: "=").first.map(String.init) else { continue }
            // The word after an option without a value belongs to another option, or is an argument, which is not repeated.
            let isComplete = word.contains("=") || Self.flags.contains(name) || rest.first?.hasPrefix("-") != false
            let words = [word] + (isComplete ? [] : rest.popFirst().map { [$0] } ?? [])
            guard isSharing ? !Self.left.contains(name) : Self.access.contains(name) else { continue }
            options.append(Option(name: name, words: words))
        }
        self.options = options
    }

    /// The options for another share; a decision about both stores replaces the one of the call.
    func sharing(_ onBoth: ShareOptions.BothPlacesPolicy?) -> [String] {
        let name = "--on-both"
        return (onBoth.map { [name, $0.rawValue] } ?? []) + words { onBoth == nil || $0 != name } + state
    }

    /// The options for a command that reads or writes the pair's journal.
    var run: [String] { reading + state }

    /// The options for a command that only opens a store.
    var reading: [String] { words { Self.access.contains($0) } }

    /// The same options with another state folder.
    func recorded(in stateFolder: String) -> RepeatedOptions {
        var copy = self
        copy.stateFolder = stateFolder
        return copy
    }

    private var state: [String] { stateFolder.map { ["--state", $0] } ?? [] }

    private func words(_ isRepeated: (String) -> Bool) -> [String] {
        options.filter { isRepeated($0.name) }.flatMap(\.words)
    }
}

extension NextStep {
    /// The command to type after a call with options.
    func command(_ options: RepeatedOptions) -> String {
        if case .inStateFolder(let folder, let step) = self { return step.command(options.recorded(in: folder)) }
        return command(sharing: options.sharing, run: options.run, reading: options.reading)
    }
}
