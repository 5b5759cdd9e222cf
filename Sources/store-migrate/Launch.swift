import ArgumentParser
import CLinux
import StoreMigration

/// One run of the tool, from the words of the command line to the exit status.
enum Launch {
    /// The stack that the tool needs, with a reserve, and the usual one.
    private static let (leastStack, usualStack) = (2 << 20, 8 << 20)

    /// Runs the command line of this process, even where its stack is limited to less than the tool needs.
    static func statusWithStack() -> Int32 { clinux_call_with_stack(leastStack, usualStack) { Launch.status() } }

    /// Runs the command line of this process.
    static func status() -> Int32 {
        // The words end with a null pointer; the first is the name of the program.
        var words: [String?] = []
        var next = CommandLine.unsafeArgv
        while let word = next.pointee {
            words.append(String(validatingCString: word))
            next += 1
        }
        return status(ofVector: words)
    }

    /// Runs the command of an argument vector, with nil for an argument that is not valid UTF-8.
    static func status(ofVector words: [String?]) -> Int32 {
        guard !words.isEmpty else {
            // Swift reads the vector from /proc, as do checks of open files and locks.
            let failure = Failure(
                outcome: .failed,
                message: "the arguments of this process cannot be read: no proc file system is mounted at /proc",
                advice: "Mount it: mount -t proc proc /proc"
            )
            return refuse(failure, [], since: .now)
        }
        let readable = words.dropFirst().compactMap { $0 }
        guard readable.count == words.dropFirst().count else {
            let failure = Failure(
                outcome: .usage,
                message: "an argument is not valid UTF-8",
                advice: "Use a path that is valid UTF-8."
            )
            return refuse(failure, readable, since: .now)
        }
        return status(of: readable)
    }

    /// Runs the command that the words name.
    static func status(of words: [String]) -> Int32 {
        let start = ContinuousClock.now
        // Without the parser, whose tables of all verbs would take most of the time of this call.
        guard words != ["--version"] else {
            ToolSurroundings.current.output.write(Versions.text + "\n")
            return 0
        }
        do {
            var command = try parsed(words)
            guard let verb = command as? any Verb else {
                try command.run()
                return 0
            }
            return perform(verb, words, since: start)
        } catch let failure as Failure {
            return refuse(failure, words, since: start)
        } catch {
            guard StoreMigrate.exitCode(for: error) != .success else {
                ToolSurroundings.current.output.write(help(StoreMigrate.fullMessage(for: error), words) + "\n")
                return 0
            }
            do {
                let stores = try configuredStores(for: words)
                if !stores.isEmpty { return try StoreSequence(stores, calledWith: words).run(since: start) }
            } catch {
                return refuse(Failure(error), words, since: start)
            }
            let failure = Failure(
                outcome: .usage,
                message: CommandTree.unknownName(in: words) ?? Escaped.line(StoreMigrate.message(for: error)),
                advice: "See '\((["store-migrate", "help"] + CommandTree.name(of: words)).joined(separator: " "))'."
            )
            return refuse(failure, words, since: start)
        }
    }

    /// Parses the words of a call, without its configuration.
    ///
    /// The parser's tree of all verbs costs time, so it gets the named verb alone. Words that the verb does not accept,
    /// and requests for help, are parsed from the root, which has the messages.
    private static func command(_ words: [String]) throws -> any ParsableCommand {
        let names = CommandTree.name(of: words)
        if words.starts(with: names), let verb = CommandTree.verb(of: words),
            let command = try? verb.parseAsRoot(Array(words.dropFirst(names.count))), command is any Verb
        {
            return command
        }
        return try StoreMigrate.parseAsRoot(words)
    }

    /// The command that the words name, with the options of its configuration.
    static func parsed(
        _ words: [String],
        environment: [String: String] = ToolSurroundings.current.environment
    ) throws -> any ParsableCommand {
        var command = try command(words)
        if command is any Verb { try ToolSurroundings.current.requireUnicodeNames() }
        if var verb = command as? any ConfiguredVerb {
            try Configuration.complete(&verb, calledWith: words, environment: environment)
            command = verb
        }
        try (command as? any Verb)?.requireCompleteOptions()
        return command
    }

    /// The stores that the configuration of a call lists, if the call is complete but for its old store.
    private static func configuredStores(for words: [String]) throws -> [ConfiguredStore] {
        guard let verb = try? command(naming("/", in: words)) as? any ConfiguredVerb else { return [] }
        return try Configuration.stores(for: verb)
    }

    /// The words of a call with the old store as its first argument.
    static func naming(_ old: String, in words: [String]) -> [String] {
        let name = CommandTree.name(of: words)
        return words.starts(with: name) ? name + [old] + words.dropFirst(name.count) : words
    }

    private static func perform(_ verb: some Verb, _ words: [String], since start: ContinuousClock.Instant) -> Int32 {
        let reporter = reporter(of: verb, words)
        return reporter.close(type(of: verb).words, ending(of: verb, reporter), since: start)
    }

    static func reporter(of verb: some Verb, _ words: [String]) -> Reporter {
        Reporter(verb.reporting, repeating: repeatedOptions(of: verb, words))
    }

    /// Performs a verb, and reports its failure.
    static func ending(of verb: some Verb, _ reporter: Reporter) -> Ending {
        if reporter.surroundings.ownsProcess { Interruption.listen() }
        do {
            return try verb.perform(reporter)
        } catch {
            var failure = Failure(error)
            if failure.outcome.isPassing { failure.next = failure.next ?? verb.again }
            reporter.report(failure)
            return Ending(
                failure.outcome,
                findings: failure.findings.count,
                members: verb.summaryOnFailure.map { name, value in
                    name == "next" ? (name, .optional(failure.next.map(reporter.command))) : (name, value)
                }
            )
        }
    }

    private static func repeatedOptions(of verb: some Verb, _ words: [String]) -> RepeatedOptions {
        let locating = verb as? any LocatingVerb
        return RepeatedOptions(
            of: words,
            stateFolder: verb.stateFolder?.path,
            old: locating?.places.old.path,
            previous: locating?.previous.previous.map(\.path) ?? []
        )
    }

    /// Reports what prevents a call.
    private static func refuse(_ failure: Failure, _ words: [String], since start: ContinuousClock.Instant) -> Int32 {
        let reporter = Reporter(refusingAsJSON: words.prefix { $0 != "--" }.contains("--json"))
        reporter.report(failure)
        let members = CommandTree.verb(of: words)?.summaryOnUsage ?? []
        let name = CommandTree.name(of: words)
        let ending = Ending(failure.outcome, members: members)
        return reporter.close(name.isEmpty ? ["store-migrate"] : name, ending, since: start)
    }

    /// Replaces the options in a long usage line, which the help lists below it.
    private static func withShortUsage(_ message: String) -> String {
        message.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                guard line.hasPrefix("USAGE: "), line.count > 80, let first = line.firstRange(of: " [-") else {
                    return String(line)
                }
                let arguments = line[first.lowerBound...].replacing(#/ \[-[^\]]*\](?: \.\.\.)?/#, with: "")
                return line[..<first.lowerBound] + " [<options>]" + arguments
            }
            .joined(separator: "\n")
    }

    /// Appends the exit statuses of the verb to its help.
    private static func help(_ message: String, _ words: [String]) -> String {
        let isHelp = message.hasPrefix("OVERVIEW:") || message.hasPrefix("USAGE:")
        guard isHelp else { return message }
        let message = withShortUsage(message)
        let outcomes: [MigrationOutcome]
        if let verb = CommandTree.verb(of: words) {
            outcomes = verb.outcomes
        } else {
            // The verbs of a group have their own statuses.
            guard CommandTree.name(of: words.filter { $0 != "help" }).isEmpty else { return message }
            outcomes = MigrationOutcome.allCases
        }
        let separator = message.hasSuffix("\n") ? "\n" : "\n\n"
        return message + separator + ExitStatusTable.text(for: outcomes)
    }
}
