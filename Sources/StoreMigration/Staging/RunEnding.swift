import ChangeMerging
import SafeFiles
import StoreAccess

/// The end of every run over a pair once its work is committed: the receipt, the staging folder, `done`, the bases.
///
/// A run that is carried out to its end and one that recovery finishes end here, so that both leave the same records.
struct RunEnding {
    /// The new store at the end of the run.
    struct NewStore {
        let identity: FileIdentity
        let uuid: String?
        /// The schema cookie of a store without a UUID.
        let schemaCookie: UInt32?
        /// The content digest, which differs from the old store's once history was switched on or rows were merged.
        let digest: String
        /// The token at that content; nil when other processes may have written before it was read.
        var token: FileToken?
    }

    /// The earlier runs that the receipt still lists.
    enum Origins {
        /// Those of a copy: it takes along those of the old store's own receipt.
        ///
        /// `isRecovered` is true for a published copy whose run was killed: other stores may have been shared to it since.
        case copied(isRecovered: Bool)
        /// Those of the present receipt, except the run that this one continues.
        case present(except: String?)
        /// Those of the present receipt and the run that is in force again if this one is rolled back.
        case presentAndFormer(String?)
    }

    let context: RunContext
    let new: NewStore
    let origins: Origins
    let isFenced: Bool
    /// The number of shared objects, if counted.
    var objects: Int64?
    /// True when the new store never received the old one's content.
    var keepsNew = false
    /// True when rows stay only in the old store by the caller's decision.
    var leavesRows = false

    /// Ends the run.
    ///
    /// `content` is the digest of the old store's content in its recorded state. `oldState` is called as late as
    /// possible: a token is trusted once its timestamps are older than the kernel's tick.
    func finish(
        _ journal: inout MigrationJournal,
        content: String,
        removing staging: StagingFolder? = nil,
        oldState: (inout MigrationJournal) throws -> JournalRecord.OldState
    ) throws {
        try receipt(content).write(beside: context.new.name, in: context.container)
        try staging?.remove()
        let state = try oldState(&journal)
        try Self.close(
            &journal,
            JournalRecord.Completion(
                new: new.identity,
                newUUID: new.uuid,
                newSchemaCookie: new.schemaCookie,
                newBirth: try? context.container.birthTime(of: context.new.name),
                objects: objects,
                oldState: state,
                isFenced: isFenced,
                keepsNew: keepsNew ? true : nil,
                leavesRows: leavesRows ? true : nil
            ),
            in: context.stateFolder
        )
    }

    /// Records the end of a run in its journal, and removes the bases that no later merge needs.
    static func close(
        _ journal: inout MigrationJournal,
        _ completion: JournalRecord.Completion,
        in folder: StateFolder
    ) throws {
        try journal.append(.done(completion))
        CapturedBase.removeUnneeded(for: journal.state, in: try folder.open())
    }

    /// Records the end of a run that replaced the store at its own path: there is no pair and no receipt.
    static func closeInPlace(migrating: Bool, removing staging: StagingFolder?, _ journal: inout MigrationJournal)
        throws
    {
        try staging?.remove()
        try journal.append(migrating ? .migrated : .restored)
    }

    private var pairs: PairRecords { PairRecords(store: context.new, surroundings: context.surroundings) }

    private func receipt(_ content: String) throws -> Receipt {
        let current = try Receipt(beside: context.new.name, in: context.container)
        let receipt = Receipt(
            transaction: context.transaction,
            old: context.old.path,
            state: context.surroundings.stateFolder.map { StoreLocation(url: $0).path },
            storeUUID: new.uuid,
            digest: new.digest,
            oldDigest: new.digest == content ? nil : content,
            token: new.token,
            keepsNew: keepsNew ? true : nil,
            storesLeft: context.settings.storesLeft ?? current?.storesLeft,
            choices: context.settings.choices,
            descriptions: context.descriptions.byRoleName
        )
        let present = current?.origins ?? []
        switch origins {
        case .copied(let isRecovered):
            let copied = try receipt.adding(context.predecessors())
            // A store whose content returns still has the content of the stores that were shared to it before.
            let isReturn = copied.origins.dropFirst().contains { $0.old == context.new.path }
            return try copied.adding(isReturn ? present : [])
                .adding(isRecovered ? pairs.otherOrigins(than: context.old) : [])
        case .present(let former):
            return receipt.adding(present.filter { $0.transaction != former })
        case .presentAndFormer(let former):
            // While the run can be rolled back, the former one may be in force again.
            return receipt.adding(
                present.filter { $0.transaction == former || $0.old != receipt.old || $0.state != receipt.state }
            )
        }
    }

}
