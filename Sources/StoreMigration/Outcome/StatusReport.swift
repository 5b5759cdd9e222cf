public import StoreFormat

/// Both places at a glance; taking it changes nothing.
public struct StatusReport: Sendable {
    /// What stands at one place.
    public enum Presence: String, Sendable, Codable {
        case absent
        case emptyFile
        case orphanSidecar
        case unreadable
        case store
    }

    /// What is known of one place.
    public struct Place: Sendable {
        public let path: String
        public let presence: Presence
        public let uuid: String?
        public let journalMode: StoreHeader.JournalMode?
        /// True when a fence of ours stands in it.
        public let isFenced: Bool
        /// The processes that have it open, as far as this user can see; for naming only.
        public let holders: [Int32]

        package init(
            path: String,
            presence: Presence,
            uuid: String?,
            journalMode: StoreHeader.JournalMode?,
            isFenced: Bool,
            holders: [Int32]
        ) {
            self.path = path
            self.presence = presence
            self.uuid = uuid
            self.journalMode = journalMode
            self.isFenced = isFenced
            self.holders = holders
        }
    }

    /// How far the last run came.
    public enum Run: String, Sendable, Codable {
        /// No run has left a journal.
        case none
        case shared
        case interrupted
        /// It has not ended, and its process is alive.
        case atWork
        case retired
        case rolledBack
    }

    /// What is known about writes made to the old place after the copy.
    public enum LateWrites: String, Sendable, Codable {
        /// There is nothing they could be late for.
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
    /// The archive that a retired store is kept in.
    public let archive: String?
    public let lateWrites: LateWrites
    public let findings: [Finding]
    public let next: NextStep?

    package init(
        old: Place,
        new: Place,
        run: Run,
        recovery: String?,
        transaction: String?,
        archive: String? = nil,
        lateWrites: LateWrites,
        findings: [Finding],
        next: NextStep?
    ) {
        self.old = old
        self.new = new
        self.run = run
        self.recovery = recovery
        self.transaction = transaction
        self.archive = archive
        self.lateWrites = lateWrites
        self.findings = findings
        self.next = next
    }
}
