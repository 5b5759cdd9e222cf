public import ChangeMerging
public import ModelMigration
public import StoreAccess
public import StoreStrategies
public import StoreVerification

/// How a share ended, with its proof and all paths.
public struct ShareOutcome: Sendable {
    /// One of the two stores.
    public struct Side: Hashable, Sendable, Codable {
        /// The main file's absolute path.
        public let path: String
        /// The store's UUID, in a Core Data store.
        public let uuid: String?
        /// Objects, or rows in plain SQLite; nil when they were not counted.
        public let objects: Int64?
        /// The content digest; nil when it was not taken.
        public let digest: String?

        public init(path: String, uuid: String?, objects: Int64?, digest: String?) {
            self.path = path
            self.uuid = uuid
            self.objects = objects
            self.digest = digest
        }
    }

    /// The work of a share with a copy.
    public struct Work: Hashable, Sendable {
        /// The bytes of the new store and its external files.
        public let bytes: Int64
        public let externalFiles: Int
        /// How long the old store's write lock was held; nil when it was not taken.
        public let lockHold: Duration?
        /// True when the old store is fenced now.
        public let isFenced: Bool
        /// Present when the copy was migrated to another model version.
        public let migration: Migration?

        package init(
            bytes: Int64,
            externalFiles: Int,
            lockHold: Duration?,
            isFenced: Bool,
            migration: Migration? = nil
        ) {
            self.bytes = bytes
            self.externalFiles = externalFiles
            self.lockHold = lockHold
            self.isFenced = isFenced
            self.migration = migration
        }
    }

    /// The migration of the copy in a share.
    public struct Migration: Hashable, Sendable {
        public let target: MigrationTarget
        public let mapping: InferredMapping
        /// The tables whose rows were copied, and those that were changed in their pages.
        public let copiedTables: [String]
        public let extendedTables: [String]
        /// The external files that no row of the new store refers to; they are only at the old path.
        public let omittedFiles: [String]

        init(target: MigrationTarget, _ mapping: InferredMapping, _ result: ModelMigrator.Result) {
            self.target = target
            self.mapping = mapping
            copiedTables = result.copiedTables
            extendedTables = result.extendedTables
            omittedFiles = result.orphanedFiles
        }
    }

    /// The work of a share with a merge.
    public struct Merge: Hashable, Sendable {
        public let summary: MergeSummary
        /// The merge's epoch, which identifies it for an undo.
        public let epoch: String
        /// The path of the store that received the changes.
        public let into: String
        /// The path of the store whose changes were merged.
        public let from: String
        /// The file with the parked rows; nil when there are none.
        public let parkedRows: String?

        /// The file with the objects whose address changed; nil when there are none.
        package let rekeyedObjects: String?

        package init(
            summary: MergeSummary,
            epoch: String,
            into: String,
            from: String,
            parkedRows: String?,
            rekeyedObjects: String? = nil
        ) {
            self.summary = summary
            self.epoch = epoch
            self.into = into
            self.from = from
            self.parkedRows = parkedRows
            self.rekeyedObjects = rekeyedObjects
        }
    }

    public let outcome: MigrationOutcome
    /// The transaction ID of the run that wrote something, now or before.
    public let transaction: String?
    public let old: Side?
    public let new: Side?
    /// Present when this run copied something.
    public let work: Work?
    /// Present when this run merged something.
    public let merge: Merge?
    /// The proof; empty when nothing was copied.
    public let report: VerificationReport?
    public let findings: [Finding]
    /// One sentence that says why it ended this way.
    public let message: String
    public let next: NextStep?
    /// The treatment of the old store that is in force now; nil when nothing is shared.
    public let oldStore: ShareOptions.OldStorePolicy?
    /// How each role opens the new store.
    public let descriptions: [StoreRole: PersistentStoreDescription]
    /// How the stores of other previous locations were shared or merged, in order; empty with one old store.
    public let others: [ShareOutcome]

    package init(
        outcome: MigrationOutcome,
        transaction: String? = nil,
        old: Side? = nil,
        new: Side? = nil,
        work: Work? = nil,
        merge: Merge? = nil,
        report: VerificationReport? = nil,
        findings: [Finding] = [],
        message: String,
        next: NextStep? = nil,
        oldStore: ShareOptions.OldStorePolicy? = nil,
        descriptions: [StoreRole: PersistentStoreDescription] = [:],
        others: [ShareOutcome] = []
    ) {
        self.outcome = outcome
        self.transaction = transaction
        self.old = old
        self.new = new
        self.work = work
        self.merge = merge
        self.report = report
        self.findings = findings
        self.message = message
        self.next = next
        self.oldStore = oldStore
        self.descriptions = descriptions
        self.others = others
    }

    /// The same outcome with these descriptions.
    package func adding(descriptions: [StoreRole: PersistentStoreDescription]) -> ShareOutcome {
        with(findings: findings, descriptions, others)
    }

    /// The same outcome with these findings before its own.
    package func adding(_ first: [Finding]) -> ShareOutcome { with(findings: first + findings, descriptions, others) }

    /// The same outcome with those of other previous stores.
    func adding(others: [ShareOutcome], _ more: [Finding]) -> ShareOutcome {
        with(findings: findings + more, descriptions, others)
    }

    private func with(
        findings: [Finding],
        _ descriptions: [StoreRole: PersistentStoreDescription],
        _ others: [ShareOutcome]
    ) -> ShareOutcome {
        ShareOutcome(
            outcome: outcome,
            transaction: transaction,
            old: old,
            new: new,
            work: work,
            merge: merge,
            report: report,
            findings: findings,
            message: message,
            next: next,
            oldStore: oldStore,
            descriptions: descriptions,
            others: others
        )
    }
}
