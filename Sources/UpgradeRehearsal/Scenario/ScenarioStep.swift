package import StoreAccess
package import StoreFixtures
package import StoreMigration

/// One step of a scenario.
package struct ScenarioStep: Sendable {
    /// What is done.
    package indirect enum Action: Sendable {
        case verb(VerbCall)
        case make(store: String, StoreSource)
        case write(StoreWrite)
        case save(ContextSave)
        case start(ProcessStart)
        case stop(process: String)
        case kill(process: String)
        /// Stops the process; `isEnded` says that iOS must be expected to end it for its locks.
        case suspend(process: String, isEnded: Bool)
        case proceed(process: String)
        case files([FileChange])
        case check([Expectation])
        case mark(String)
        case together([ScenarioStep])
    }

    package let action: Action
    /// The key, and enough of the rest to identify the step.
    package let title: String
    package let position: RecipePosition
}

/// A process that opens a store and stays.
package struct ProcessStart: Sendable {
    /// What it does until it is ended.
    package enum Work: Sendable {
        case nothing
        case holdsReader
        case holdsWriteLock
        /// Executes SQL repeatedly; `{n}` is the number of the round, from 1.
        case repeats(sql: String, after: Int64)
    }

    package let process: String
    package let store: String
    package let work: Work
}

/// How a run of the tool must end.
package struct RequiredEnding: Sendable {
    /// Findings that must not be reported.
    package enum Unwanted: Sendable {
        case all
        case codes([String])
    }

    /// Any of these; nil where the outcome alone decides.
    package var statuses: [Int32]? = [0]
    package var outcomes: [MigrationOutcome]?
    package var findings: [String] = []
    package var unwanted = Unwanted.codes([])
    package var texts: [String] = []
    package var members: [(name: String, value: String)] = []
    /// Its position in the scenario; nil where the key is missing, which means status 0.
    package var position: RecipePosition?

    package init() {}
}

/// A transaction of plain SQL by another process.
package struct StoreWrite: Sendable {
    package let store: String
    package let statements: [String]
    /// The started process that does it; nil for one of its own.
    package let process: String?
    /// Nil when it must succeed.
    package let refusal: Refusal?
}

/// The expectation that a write fails.
package enum Refusal: Sendable {
    case any
    /// The message contains this text.
    case saying(String)
}

/// A save of a Core Data context by another process.
package struct ContextSave: Sendable {
    package let store: String
    package let changes: ContextChanges
    /// The started process that does it; nil for one of its own.
    package let process: String?
    /// Nil when it must succeed.
    package let refusal: Refusal?
}

/// The changes of one save of a context, as sent to another process.
package struct ContextChanges: Sendable, Codable {
    /// Objects of one entity that are inserted alike.
    package struct Insertion: Sendable, Codable {
        package let entity: String
        package let count: Int64
        package let values: [String: Value]
    }

    /// New values for all objects that match.
    package struct Update: Sendable, Codable {
        package let entity: String
        package let predicate: String
        package let values: [String: Value]
    }

    /// Deletes all objects that match.
    package struct Deletion: Sendable, Codable {
        package let entity: String
        package let predicate: String
    }

    /// A value as the scenario writes it; what it means depends on the property.
    package enum Value: Sendable, Codable {
        case null
        /// A value as text, or the predicate of a destination; `{n}` is the number of the repetition, from 1.
        case text(String)
        case bytes(count: Int, fill: String)
        /// Predicates of destinations.
        case list([String])
    }

    package let author: String?
    package let insertions: [Insertion]
    package let updates: [Update]
    package let deletions: [Deletion]
}

/// A change of one path of the scratch folder.
package struct FileChange: Sendable {
    /// What the path becomes.
    package enum Content: Sendable {
        case folder
        case text(String)
        case bytes(Int, fill: String)
        /// The bytes of a file outside the scratch folder.
        case from(String)
        case copy(String)
        case move(String)
        case link(String)
        case hardLink(String)
        case remove
        case truncate(Int64)
        case flip(Int64)
    }

    package let path: String
    /// Nil where only permissions change.
    package let content: Content?
    package let mode: UInt32?
    /// True when the file is given to another user than the one who rehearses.
    package let isGivenAway: Bool
    package let position: RecipePosition
}

/// A run of the tool: its words, the events during it, and how it must end.
package struct VerbCall: Sendable {
    /// An injected error of a system call.
    package struct Fault: Sendable {
        package let call: String
        /// As `strace` takes it: `2`, `2+`, or nothing for every call.
        package let when: String?
        package let error: String
    }

    /// Steps that run while the tool is stopped.
    package struct Pause: Sendable {
        package let moment: TriggerPoint
        package let steps: [ScenarioStep]
        package let position: RecipePosition
    }

    /// Where the run is killed.
    package enum Death: Sendable {
        case at(TriggerPoint)
        case before(call: String, nth: Int64)
    }

    /// The words of the command line, names of stores and placeholders in them.
    package let words: [String]
    package var pauses: [Pause] = []
    package var death: Death?
    package var interruption: TriggerPoint?
    package var faults: [Fault] = []
    package var ending = RequiredEnding()
    package var runsAsNobody = false
    package var environment: [(name: String, value: String)] = []
    package var deadline: Duration?

    package init(words: [String]) { self.words = words }

    /// The trigger points at which something happens.
    package var moments: Set<TriggerPoint> {
        var result = Set(pauses.map(\.moment))
        if case .at(let moment) = death { result.insert(moment) }
        if let interruption { result.insert(interruption) }
        return result
    }

    /// True when system calls are tampered with.
    package var needsTracing: Bool {
        if case .before = death { return true }
        return !faults.isEmpty
    }
}

/// The verbs of the tool that a scenario may run: all commands except `rehearse`, by their first word.
public enum ToolVerbs {
    public static let names = [
        "share", "plan", "status", "resume", "abort", "retire", "unshare", "merge", "unmerge", "diff", "inspect",
        "fetch", "verify", "history", "relay", "backup", "restore", "backups", "doctor", "container", "strategies",
        "fixture", "migrate", "publish", "clean",
    ]
}

/// Something that must hold at one point of a scenario.
package struct Expectation: Sendable {
    /// What exists at a store's path.
    package enum Kind: String, Sendable, CaseIterable {
        case store
        case absent
        case emptyFile
        case orphanSidecar
        case unreadable
    }

    /// What must hold.
    package enum Claim: Sendable {
        case equal(String, String)
        case different(String, String)
        case sound(store: String, level: VerificationLevel, finds: [String])
        case count(entity: String, store: String, predicate: String?, is: String)
        /// The first values of the rows of a query.
        case values(sql: String, store: String, are: [String?], isList: Bool)
        case kind(store: String, Kind)
        case fenced(store: String, Bool)
        case present(String)
        case absent(String)
        case unchanged(String, since: String?)
        case mode(String, UInt32)
    }

    package let claim: Claim
    package let title: String
    package let position: RecipePosition
}
