/// The next command to run, as a value; the tool prints the command line.
public enum NextStep: Hashable, Sendable {
    /// Retire the old store, once every process uses the new one.
    case retire(old: String)
    /// Finish or roll back an interrupted run.
    case resume(old: String)
    /// Run the share with the options of the present run; `onBoth` makes the pending decision when both stores have objects.
    ///
    /// The caller completes the identity of each entity in `identifying`.
    case share(old: String, new: String, onBoth: ShareOptions.BothPlacesPolicy? = nil, identifying: [String] = [])
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
    /// Run another command with the state folder in which the pair is recorded.
    indirect case inStateFolder(String, NextStep)
}

extension NextStep: CustomStringConvertible {
    /// The command to type after a run without options.
    public var description: String { command() }

    /// The command to type, with the options that make it decide as the run did.
    ///
    /// `sharing` turns the decision of a share into options. `run` is for commands that use the journal, such as `--state DIR` after a run
    /// with a state folder of its own, and `reading` for commands that only open stores.
    public func command(
        sharing: (ShareOptions.BothPlacesPolicy?) -> [String] = { $0.map { ["--on-both", $0.rawValue] } ?? [] },
        run: [String] = [],
        reading: [String] = []
    ) -> String {
        let words: [String]
        switch self {
        case .retire(let old): words = ["retire", old] + run
        case .resume(let old): words = ["resume", old] + run
        case .share(let old, let new, let onBoth, let entities):
            words = ["share", old, new] + sharing(onBoth) + Self.identities(of: entities)
        case .status(let old, let new): words = ["status", old, new] + run
        case .verify(let store): words = ["verify", store] + reading
        case .inspect(let path): words = ["inspect", path] + reading
        case .diff(let first, let second): words = ["diff", first, second] + reading
        case .merge(let into, let from, let entities):
            words = ["merge", into, from] + run + Self.identities(of: entities)
        case .unmerge(let into): words = ["unmerge", into] + run
        case .unshare(let old, let new): words = ["unshare", old, new] + run
        case .migrate(let store, let model, let version):
            words =
                ["migrate", store, "--model", model] + (version.map { ["--version", $0] } ?? []) + reading
        case .makeFolder(let path): return Self.commandLine(["mkdir", "-p", path])
        case .inStateFolder(let folder, let step):
            let state = ["--state", folder]
            return step.command(sharing: { sharing($0) + state }, run: run + state, reading: reading)
        }
        return Self.commandLine(["store-migrate"] + words)
    }

    private static func identities(of entities: [String]) -> [String] {
        entities.flatMap { ["--identity", "\($0)=\(attribute)"] }
    }

    /// Stands for the attribute that the caller names.
    private static let attribute = "ATTRIBUTE"

    /// True when the command line contains a word that the caller replaces.
    public var needsCompletion: Bool {
        switch self {
        case .share(_, _, _, let entities), .merge(_, _, let entities): !entities.isEmpty
        case .inStateFolder(_, let step): step.needsCompletion
        default: false
        }
    }

    /// Words as one line for a POSIX shell, with quotes where it needs them.
    public static func commandLine(_ words: [String]) -> String { words.map(ShellWord.quoted).joined(separator: " ") }
}
