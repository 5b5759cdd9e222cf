import StoreMigration

/// A verb about an earlier run: it takes the old store, and reads the rest from the journal.
protocol AfterRunVerb: Verb {
    var old: PathArgument { get }
    var run: RunOptions { get }

    /// Does the work, as the old store's owner.
    func carryOut(_ reporter: Reporter) throws -> ShareOutcome
}

extension AfterRunVerb {
    static var summaryOnUsage: [(String, JSONValue)] { ShareMembers.unknown }

    var stateFolder: PathArgument? { run.state }
    var summaryOnFailure: [(String, JSONValue)] { ShareMembers.places(old: old.path, new: nil) }

    func perform(_ reporter: Reporter) throws -> Ending {
        let start = ContinuousClock.now
        try Surroundings.current.becomeOwner(of: old.url, stateFolder: run.state?.url)
        let outcome = try carryOut(reporter)
        return reporter.show(outcome, .fail, old: old.path, new: nil, took: start.duration(to: .now))
    }
}
