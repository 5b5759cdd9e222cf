package import ChangeMerging
package import SafeFiles
package import StoreFormat
package import StoreStrategies

/// One fact of a run, written and made durable before anything relies on it.
package enum JournalRecord: Hashable, Sendable, Codable {
    /// A run begins; nothing is on the shared side yet.
    case begin(RunIdentity)
    /// The private folder in the container exists.
    case nest(FileIdentity)
    /// What moved aside at the destination lies in this folder.
    case aside(FileIdentity)
    /// The copy is complete, durable and about to appear.
    case publishing(Publication)
    /// The destination's content is about to be replaced in one transaction.
    case replacing(Replacement)
    /// The copy has appeared, durably.
    case published(FileIdentity)
    /// Writers of the old store are refused.
    case fenced
    /// The content that was shared, once it was proved.
    case proved(digest: String)
    /// All is done.
    case done(Completion)
    /// The old store was looked at again and holds what it held; the token is renewed.
    case renewed(OldState)
    /// A base for later merges lies beside the journal.
    case base(BaseFile)
    /// What the old store holds is about to be merged into the new one, in one transaction.
    case merging(Merging)
    /// A merge that belongs to no share came to its end.
    case merged(epoch: String)
    /// What a merge did was undone, or it never was.
    case unmerged(epoch: String)
    /// What the old and the new store have in common is not known any more: a later merge must not take deletions from it.
    case voided(because: String)
    /// What the new store holds is about to be brought back to the old place, by the run of this number over the new one.
    case unsharing(transaction: String)
    /// The old place is in use again, and nothing is shared any more.
    case unshared
    /// The old store's fence was taken away because the new store is gone, or failed its proof.
    case unfenced
    /// The run was taken back.
    case rolledBack
    /// A backup was restored, and all is done; the journal's store is the restored one.
    case restored
    /// What the old store holds is in an archive that was read back and is durable; the store is to be removed.
    case archived(Archive)
    /// The old store is about to be sealed and renamed; `isLogged` where its write-ahead log is folded in for that, and to
    /// be given back should it stay.
    case retiring(to: String, isLogged: Bool? = nil)
    /// The old store was renamed.
    case retired(to: String)
    /// The renamed store was removed; the archive has it.
    case removed
}

extension JournalRecord {
    /// What a run is about.
    package struct RunIdentity: Hashable, Sendable, Codable {
        /// 32 lower-case hexadecimal digits, drawn at random.
        package let transaction: String
        package let old: StoreLocation
        package let oldIdentity: FileIdentity
        package let new: StoreLocation
        package let policy: ShareOptions.OldStorePolicy
        /// How each role opens the new store, by the role's name; nil when no strategy was asked.
        package var descriptions: [String: PersistentStoreDescription]?
        /// The content digest of the backup that is restored, for a run whose old place is its new one; nil for a share.
        package var restores: String?

        /// The same run over a store that is at `old` now.
        func at(_ old: StoreLocation) -> RunIdentity {
            moved(old: old, new: restores == nil ? new : old)
        }

        /// The same run, whose store went to `new` together with its folder.
        func to(_ new: StoreLocation) -> RunIdentity {
            moved(old: old, new: new)
        }

        private func moved(old: StoreLocation, new: StoreLocation) -> RunIdentity {
            RunIdentity(
                transaction: transaction,
                old: old,
                oldIdentity: oldIdentity,
                new: new,
                policy: policy,
                descriptions: descriptions,
                restores: restores
            )
        }
    }

    /// How a copy is recognised after it appeared.
    package struct Publication: Hashable, Sendable, Codable {
        package let main: FileIdentity
        /// The external files that move into place, by name.
        package var externalFiles: NameTable<FileIdentity>
        /// The old store as it was when the copy was completed under its lock.
        package let oldToken: FileToken
        /// The content digest of the copy, when it was proved before it appeared.
        package let digest: String?
        /// The size of the copy's main file and when it was last written, by which it is known to be untouched.
        package let size: Int64?
        package let modified: FileStatus.Time?
    }

    /// How a replacement of content is recognised.
    package struct Replacement: Hashable, Sendable, Codable {
        package let main: FileIdentity
        package var externalFiles: NameTable<FileIdentity>
        package let oldToken: FileToken
        /// The digest of the rows of the store that is replaced, external files left out; nil when it is an empty file.
        package let loserDigest: String?
        /// The same of the copy.
        package let digest: String
        /// The copy's whole content digest.
        package let contentDigest: String
    }

    /// A copy of what both places hold at one moment, kept beside the journal.
    package struct BaseFile: Hashable, Sendable, Codable {
        package let name: String
        /// The digest of its name and bytes.
        package let digest: String
        /// The list beside it of the objects that have another address in the store they were merged into; nil where no
        /// merge came before, and the list may be missing.
        package var addresses: String?
    }

    /// A merge, as it is recognised after its transaction.
    package struct Merging: Hashable, Sendable, Codable {
        /// What the merged store keeps as the mark of this merge.
        package let epoch: String
        package let from: StoreLocation
        package let into: StoreLocation
        /// What the store that was merged held, which both have in common from then on; nil for a merge that belongs to no
        /// share.
        package var oldState: OldState?
        /// The base of the next merge; nil where none is kept.
        package let base: BaseFile?
        /// How the store that was merged is known to be unchanged, for a merge that belongs to no share.
        package var source: MergedSource?
        /// True where the old store of a share takes what the new one holds.
        package var takesNew: Bool?
    }

    /// A store that was merged into another, and the base it was merged by.
    package struct MergedSource: Hashable, Sendable, Codable {
        package let identity: FileIdentity
        package let token: FileToken
        /// Nanoseconds since 1970 when the token was taken.
        package let takenAt: Int64
        /// The path of the base; nil where there was none.
        package let base: String?
        /// The choices it was merged by.
        package let choices: String
    }

    /// How the old store is known to be unchanged.
    package struct OldState: Hashable, Sendable, Codable {
        package let token: FileToken
        /// Nanoseconds since 1970 when the token was taken.
        package let takenAt: Int64
        /// The content digest, our fence left out.
        package let digest: String

        /// Only what was compared as a whole is recorded.
        package init(token: FileToken, takenAt: Int64, _ digest: SettledDigest) {
            (self.token, self.takenAt, self.digest) = (token, takenAt, digest.value)
        }

        private init(token: FileToken, takenAt: Int64, digest: String) {
            (self.token, self.takenAt, self.digest) = (token, takenAt, digest)
        }

        /// The same content under another token.
        package func renewed(_ reading: TokenReading) -> OldState {
            OldState(token: reading.token, takenAt: reading.takenAt, digest: digest)
        }
    }

    /// The archive that a retired store is kept in.
    package struct Archive: Hashable, Sendable, Codable {
        package let path: String
        /// The content digest of the store in it.
        package let digest: String
    }

    /// The end of a run.
    package struct Completion: Hashable, Sendable, Codable {
        package let new: FileIdentity
        package let newUUID: String?
        /// The objects that were shared, where they were counted.
        package let objects: Int64?
        package let oldState: OldState
        package let isFenced: Bool
        /// True when the new store was kept as it was, and never took what the old one held.
        package var keepsNew: Bool?
        /// True when a person decided that rows of the old store stay there: they are in no other store.
        package var leavesRows: Bool?
    }
}
