/// The next command to run, as a value; the tool prints the command line.
public enum NextStep: Hashable, Sendable {
    /// Retire the old store, once every process uses the new one.
    case retire(old: String)
    /// Finish or roll back an interrupted run.
    case resume(old: String)
    /// Roll an interrupted run back.
    case abort(old: String)
    /// Run the share with the options of the present run; `onBoth` makes the pending decision when both stores have objects.
    ///
    /// The caller completes the identity of each entity in `identifying`. `migratingTo` is the path of a model, or of a store
    /// that has it, to which the share migrates the old store's rows.
    case share(
        old: String,
        new: String,
        onBoth: ShareOptions.BothPlacesPolicy? = nil,
        identifying: [String] = [],
        migratingTo: String? = nil
    )
    /// Show the state of both paths.
    case status(old: String, new: String)
    /// Verify a store.
    case verify(store: String)
    /// Inspect a path.
    case inspect(path: String)
    /// Show the differences of two stores.
    case diff(String, String)
    /// Merge one store into another; the caller completes the identity of each entity in `identifying`.
    case merge(into: String, from: String, identifying: [String] = [])
    /// Undo the last merge into a store.
    case unmerge(into: String)
    /// Move back to the old store, with the new one's content.
    case unshare(old: String, new: String)
    /// Migrate a store to the model at a path; `version` names a version in a folder of several.
    case migrate(store: String, model: String, version: String?)
    /// Create a missing folder.
    case makeFolder(path: String)
    /// Remove a published snapshot, whose rows are in the private store.
    case removeSnapshot(path: String)
    /// Run another command with the state folder in which the pair is recorded.
    indirect case inStateFolder(String, NextStep)
}

extension NextStep: CustomStringConvertible {
    /// The command to type after a run without options.
    public var description: String { command { _, _ in [] } }

    /// The command to type, with more options, which make it decide as the run did.
    ///
    /// `options` gets the words of the command, the first of which names it, and whether the command reads or writes the
    /// pair's journal.
    public func command(options: (_ words: [String], _ usesJournal: Bool) -> [String]) -> String {
        switch self {
        case .makeFolder, .removeSnapshot: Self.commandLine(words)
        case .inStateFolder(let folder, let step):
            step.command { options($0, $1) + ($1 ? ["--state", folder] : []) }
        default: Self.commandLine(["store-migrate"] + words + options(words, usesJournal) + identities)
        }
    }

    private var words: [String] {
        switch self {
        case .retire(let old): ["retire", old]
        case .resume(let old): ["resume", old]
        case .abort(let old): ["abort", old]
        case .share(let old, let new, let onBoth, _, let model):
            ["share", old, new] + (onBoth.map { ["--on-both", $0.rawValue] } ?? [])
                + (model.map { ["--migrate", "--model", $0] } ?? [])
        case .status(let old, let new): ["status", old, new]
        case .verify(let store): ["verify", store]
        case .inspect(let path): ["inspect", path]
        case .diff(let first, let second): ["diff", first, second]
        case .merge(let into, let from, _): ["merge", into, from]
        case .unmerge(let into): ["unmerge", into]
        case .unshare(let old, let new): ["unshare", old, new]
        case .migrate(let store, let model, let version):
            ["migrate", store, "--model", model] + (version.map { ["--version", $0] } ?? [])
        case .makeFolder(let path): ["mkdir", "-p", path]
        case .removeSnapshot(let path): ["rm", "-f", path]
        case .inStateFolder(_, let step): step.words
        }
    }

    private var usesJournal: Bool {
        switch self {
        case .retire, .resume, .abort, .share, .status, .merge, .unmerge, .unshare, .inStateFolder: true
        case .verify, .inspect, .diff, .migrate, .makeFolder, .removeSnapshot: false
        }
    }

    private var identities: [String] {
        switch self {
        case .share(_, _, _, let entities, _), .merge(_, _, let entities):
            entities.flatMap { ["--identity", "\($0)=\(Self.attribute)"] }
        default: []
        }
    }

    /// Stands for the attribute that the caller names.
    private static let attribute = "ATTRIBUTE"

    /// True when the command line contains a word that the caller replaces.
    public var needsCompletion: Bool {
        switch self {
        case .share(_, _, _, let entities, _), .merge(_, _, let entities): !entities.isEmpty
        case .inStateFolder(_, let step): step.needsCompletion
        default: false
        }
    }

    /// Words as one line for a POSIX shell, with quotes where it needs them.
    public static func commandLine(_ words: [String]) -> String { words.map(ShellWord.quoted).joined(separator: " ") }
}

/// Quotes words for a POSIX shell.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        if word.unicodeScalars.contains(where: isUnsafe) { return "$'\(escaped(word))'" }
        let isPlain =
            !word.isEmpty
            && word.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789/._-+:@%=,".unicodeScalars.contains($0)
            }
        guard !isPlain else { return word }
        // By scalar: a quote and a combining mark form one Character, but a shell sees the quote.
        return "'" + word.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// True for characters that a terminal does not show as they are: control and format characters, line and paragraph
    /// separators.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The inside of `$'…'`, which bash, zsh and POSIX 2024 support.
    private static func escaped(_ word: String) -> String {
        var result = ""
        for scalar in word.unicodeScalars {
            if scalar == "'" || scalar == "\\" {
                result += "\\\(scalar)"
            } else if isUnsafe(scalar) {
                for byte in String(scalar).utf8 { result += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16) }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
