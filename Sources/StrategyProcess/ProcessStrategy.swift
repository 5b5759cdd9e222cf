internal import FoundationEssentials
internal import SafeFiles
public import StoreStrategies

/// A strategy in another process.
///
/// Every question starts a new process, which is ended with everything that it started before the answer is returned.
/// No state and no process survives a question.
public struct ProcessStrategy: StoreStrategy {
    public let name: String
    public let documentation: StrategyDocumentation
    private let plugin: PluginFile
    private let sandbox: PluginSandbox
    private let time: PluginTime
    private let isCancelled: (@Sendable () -> Bool)?

    /// What this kernel cannot deny the plugin; empty unless the policy is `bestEffort`.
    public var gaps: [PluginSandbox.Gap] { sandbox.gaps }

    /// Asks the plugin for its capability.
    ///
    /// Throws `StrategyError` for a plugin that cannot be run, speaks another version, or does not say what it may set.
    /// The sandbox's deadline is for all questions to this strategy together. `isCancelled` is polled while the plugin runs;
    /// once it is true, or the task is cancelled, the plugin is ended and an error with the code `cancelled` thrown.
    public init(
        _ plugin: PluginFile,
        sandbox: PluginSandbox = .required,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(StrategyError) {
        self.plugin = plugin
        self.sandbox = sandbox
        self.isCancelled = isCancelled
        time = PluginTime(sandbox.limits.deadline)
        name = plugin.name
        documentation = try Self.documentation(
            in: Self.answers([], from: plugin, in: sandbox, time, isCancelled),
            of: plugin
        )
    }

    /// The capability, and the answers to questions.
    private static func answers(
        _ questions: [StrategyMessage.Question],
        from plugin: PluginFile,
        in sandbox: PluginSandbox,
        _ time: PluginTime,
        _ isCancelled: (@Sendable () -> Bool)?
    ) throws(StrategyError) -> [StrategyMessage.Answer] {
        let capability = StrategyMessage.Question.getCapability(protocolVersion: StrategyMessage.protocolVersion)
        let lines: [[UInt8]]
        do {
            lines = try ([capability] + questions).map { try $0.line() }
        } catch {
            throw StrategyError(.failed, "the questions to the plugin \(plugin.name) cannot be written: \(error)")
        }
        return try PluginConversation.answers(
            to: lines,
            from: plugin,
            in: sandbox,
            time: time,
            isCancelled: isCancelled,
            reading: StrategyMessage.Answer.init(line:)
        )
    }

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        switch try answer(to: .evaluate(request: request), request) {
        case .applicability(.applicable): return .applicable
        case .applicability(.notApplicable(let reason)):
            return .notApplicable(reason: PluginWords.repeated(reason))
        default: throw unexpectedAnswer
        }
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        switch try answer(to: .describe(request: request), request) {
        case .changes(let changes): return changes
        default: throw unexpectedAnswer
        }
    }

    private func answer(
        to question: StrategyMessage.Question,
        _ request: StrategyRequest
    ) throws(StrategyError) -> StrategyMessage.Answer {
        try plugin.requireNoStore(at: request.description.url.path)
        let answers = try Self.answers([question], from: plugin, in: sandbox, time, isCancelled)
        guard try Self.documentation(in: answers, of: plugin) == documentation, let answer = answers.last else {
            throw StrategyError(.failed, "the plugin \(name) changed its description of itself")
        }
        if case .failure(let message, let suggestion) = answer {
            throw plugin.failure(message, recoverySuggestion: suggestion)
        }
        return answer
    }

    private var unexpectedAnswer: StrategyError {
        StrategyError(.failed, "the plugin \(name) sent an answer of the wrong kind")
    }

    /// The plugin's documentation, after its version and its name were checked.
    private static func documentation(
        in answers: [StrategyMessage.Answer],
        of plugin: PluginFile
    ) throws(StrategyError) -> StrategyDocumentation {
        guard case .capability(let version, let name, let documentation)? = answers.first else {
            throw StrategyError(.failed, "the plugin \(plugin.name) did not answer with its capability")
        }
        guard version == StrategyMessage.protocolVersion else {
            throw StrategyError(
                .failed,
                "the plugin \(plugin.name) speaks version \(version) of the wire, this program version "
                    + "\(StrategyMessage.protocolVersion)"
            )
        }
        guard name == plugin.name else {
            throw StrategyError(.failed, "the plugin \(plugin.name) calls itself '\(PluginWords.repeated(name))'")
        }
        if let objection = documentation.objection {
            throw StrategyError(.notOffered, "the plugin \(name) is refused: \(PluginWords.repeated(objection))")
        }
        return documentation
    }
}

extension StrategyPipeline.Step {
    /// A strategy in another process: the plugin of a name, in the first of the folders that has one.
    ///
    /// Starts the plugin to ask what it may set; cancelling the task ends it. Throws `StrategyError` for an unknown
    /// name, with the name that is probably meant, and for a plugin that cannot be run.
    public static func plugin(
        _ name: String,
        in folders: [String],
        options: StrategyOptions = StrategyOptions(),
        sandbox: PluginSandbox = .required
    ) async throws(StrategyError) -> Self {
        try await BlockingCall.run { () throws(StrategyError) in
            let locator = PluginLocator(folders: folders)
            guard let plugin = try locator.plugin(named: name) else {
                throw .unknownStrategy(name, among: locator.names)
            }
            return Self(try ProcessStrategy(plugin, sandbox: sandbox), options: options)
        }
    }
}

extension ProcessStrategy: ConfinedStrategy {
    package var unconfined: String? { gaps.isEmpty ? nil : gaps.text }
}
