public import StoreAccess

/// The state of both paths; gathering it changes nothing.
public struct StatusReport: Sendable {
    /// What exists at one path.
    public enum Presence: String, Sendable, Codable {
        case absent
        case emptyFile
        case orphanSidecar
        case unreadable
        case store
    }

    /// The state of one path.
    public struct Place: Sendable {
        public let path: String
        public let presence: Presence
        public let uuid: String?
        public let journalMode: StoreHeader.JournalMode?
        /// True when the store is fenced; nil for a store that cannot be read.
        public let isFenced: Bool?
        /// The processes that have it open, as far as this user can see; for display only.
        public let holders: [Int32]
        /// The same processes with the names of their programs.
        public let holderNames: String

        package init(
            path: String,
            presence: Presence,
            uuid: String?,
            journalMode: StoreHeader.JournalMode?,
            isFenced: Bool?,
            holders: [Int32],
            holderNames: String? = nil
        ) {
            self.path = path
            self.presence = presence
            self.uuid = uuid
            self.journalMode = journalMode
            self.isFenced = isFenced
            self.holders = holders
            self.holderNames = holderNames ?? holders.map(String.init).joined(separator: ", ")
        }
    }

    /// The state of the last run.
    public enum Run: String, Sendable, Codable {
        /// No run has left a journal.
        case none
        case shared
        case interrupted
        /// The run is in progress, and its process is alive.
        case atWork
        case retired
        case rolledBack
        /// An unshare ended the pair, and no share followed.
        case unshared
    }

    /// Whether the old store was written to after the copy.
    public enum LateWrites: String, Sendable, Codable {
        /// The store is not shared, or shared to another path than the named one.
        case notApplicable
        case none
        case found
        /// The old store cannot be read.
        case unknown
    }

    public let old: Place
    public let new: Place
    public let run: Run
    /// What `resume` would do with an interrupted run.
    public let recovery: String?
    public let transaction: String?
    /// The archive of a retired store.
    public let archive: String?
    public let lateWrites: LateWrites
    /// The recorded treatment of the old store; nil when no share of it is in force.
    public let policy: ShareOptions.OldStorePolicy?
    public let findings: [Finding]
    public let next: NextStep?
    /// The commands of which a person chooses one; empty when there is nothing to decide.
    public let choices: [NextStep]

    /// True when neither path has a store, and no run is recorded.
    public var foundNothing: Bool {
        run == .none && [.absent, .emptyFile].contains(old.presence)
            && [.absent, .emptyFile, .orphanSidecar].contains(new.presence)
    }

    /// True when there is an error that a person has to repair.
    public var needsRepair: Bool { findings.contains { $0.severity == .error } }

    /// True when work is due: a next command other than a retire, which waits until every process uses the new store, a
    /// decision, or a repair.
    public var asksForAction: Bool {
        if case .retire = next { return false }
        return next != nil || !choices.isEmpty || needsRepair
    }

    package init(
        old: Place,
        new: Place,
        run: Run,
        recovery: String?,
        transaction: String?,
        archive: String? = nil,
        lateWrites: LateWrites,
        policy: ShareOptions.OldStorePolicy? = nil,
        findings: [Finding],
        next: NextStep?,
        choices: [NextStep] = []
    ) {
        self.old = old
        self.new = new
        self.run = run
        self.recovery = recovery
        self.transaction = transaction
        self.archive = archive
        self.lateWrites = lateWrites
        self.policy = policy
        self.findings = findings
        self.next = next
        self.choices = choices
    }

    /// The same report with more findings; a decision that has to be made first replaces the next command.
    func adding(_ more: [Finding], deciding first: [NextStep]) -> StatusReport {
        StatusReport(
            old: old,
            new: new,
            run: run,
            recovery: recovery,
            transaction: transaction,
            archive: archive,
            lateWrites: lateWrites,
            policy: policy,
            findings: findings + more,
            next: first.isEmpty ? next : nil,
            choices: first.isEmpty ? choices : first
        )
    }
}
