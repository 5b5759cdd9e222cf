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
    enum Origins: Equatable {
        /// Those of the old store's own receipt, which a copy takes along.
        case predecessors
        /// Those, and the stores that were shared to a published copy before its killed run was recovered.
        case predecessorsAndOthers
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

    private func receipt(_ content: String) -> Receipt {
        let receipt = Receipt(
            transaction: context.transaction,
            old: context.old.path,
            state: context.surroundings.stateFolder.map { StoreLocation(url: $0).path },
            storeUUID: new.uuid,
            digest: new.digest,
            oldDigest: new.digest == content ? nil : content,
            token: new.token,
            keepsNew: keepsNew ? true : nil,
            storesLeft: context.settings.storesLeft
                ?? Receipt(beside: context.new.name, in: context.container)?.storesLeft,
            choices: context.settings.choices,
            descriptions: context.descriptions.byRoleName
        )
        return switch origins {
        case .predecessors, .predecessorsAndOthers:
            receipt.remembering(
                predecessorsOf: context.old,
                in: context.oldFolder,
                policy: context.settings.treatment
            )
            .rememberingReturn(to: context.new, in: context.container)
            .remembering(origins == .predecessors ? [] : pairs.otherOrigins(than: context.old))
        case .present(let former):
            receipt.remembering(besides: former, beside: context.new.name, in: context.container)
        case .presentAndFormer(let former):
            receipt.remembering(pairAt: former, beside: context.new.name, in: context.container)
        }
    }
}
