package import ChangeMerging
package import SafeFiles
package import StoreAccess
package import StoreStrategies

/// One fact of a run, flushed before anything relies on it.
package enum JournalRecord: Hashable, Sendable, Codable {
    /// A run begins; nothing exists at the destination yet.
    case begin(RunIdentity)
    /// The staging folder exists.
    case nest(FileIdentity)
    /// The folder of displaced files exists.
    case aside(FileIdentity)
    /// The copy is complete, durable and about to be published.
    case publishing(Publication)
    /// The destination's content is about to be replaced in one transaction.
    case replacing(Replacement)
    /// The copy is published, durably.
    case published(FileIdentity)
    /// The old store is fenced.
    case fenced
    /// The digest of the shared content, once proved.
    case proved(digest: String)
    /// The run is complete.
    case done(Completion)
    /// The old store was read again and is unchanged; the token is renewed.
    case renewed(OldState)
    /// The caller chose how the next merges of the pair resolve conflicts.
    case choosing(MergeSettings)
    /// A base for later merges exists beside the journal.
    case base(BaseFile)
    /// One store is about to be merged into the other, in one transaction.
    case merging(Merging)
    /// A merge outside a share is complete.
    case merged(epoch: String)
    /// A merge was undone, or was never committed.
    case unmerged(epoch: String)
    /// The common state is unknown from now on: a later merge must not derive deletions from it.
    case voided(because: String)
    /// The new store's content is about to be brought back to the old one, by the run `transaction` over the new store.
    case unsharing(transaction: String)
    /// The old store is in use again, and the pair has ended.
    case unshared
    /// The old store's fence was removed because the new store is missing, or failed its proof.
    case unfenced
    /// The run was rolled back.
    case rolledBack
    /// A backup was restored and the run is complete; the journal's store is the restored one.
    case restored
    /// The store was migrated to another model version and the run is complete.
    case migrated
    /// The old store's archive was read back and is durable; the store is to be removed.
    case archived(Archive)
    /// The old store is about to be marked read-only and renamed.
    ///
    /// `isLogged` is true if its WAL is checkpointed for that, and WAL mode is to be restored should the store stay.
    case retiring(to: String, isLogged: Bool? = nil)
    /// The old store was renamed.
    case retired(to: String)
    /// The renamed store was removed; the archive has it.
    case removed
}

extension JournalRecord {
    /// The stores and the policy of a run.
    package struct RunIdentity: Hashable, Sendable, Codable {
        /// 32 lower-case hexadecimal digits, drawn at random.
        package let transaction: String
        package let old: StoreLocation
        package let oldIdentity: FileIdentity
        /// The time at which the old store's file was created.
        ///
        /// Nil where the file system does not record it, for a run over the store at one path, and in records of earlier versions.
        package var oldBirth: FileStatus.Time?
        package let new: StoreLocation
        package let policy: ShareOptions.OldStorePolicy
        /// What the caller chose for the pair, for a share, or for the share that an unshare ends.
        package var recordedChoices: PairChoices?
        /// How each role opens the new store, by the role's name; nil when no strategy ran.
        package var descriptions: [String: PersistentStoreDescription]?
        /// The content digest of the backup, for a restore, whose old and new path are the same; nil for a share.
        package var restores: String?
        /// The path of the model or store whose version the copy is migrated to; nil for a run that migrates nothing.
        package var migratesTo: String?

        /// True when the run replaces the store at one path, which is its old and its new path.
        package var isInPlace: Bool { restores != nil || migratesInPlace }
        /// True for a migration of the store at one path; a share to another path may migrate its copy.
        package var migratesInPlace: Bool { migratesTo != nil && old == new }

        /// What the caller chose for the pair.
        package var choices: PairChoices { recordedChoices ?? PairChoices(oldStore: policy) }

        /// The same run with the old store's current path.
        func at(_ old: StoreLocation) -> RunIdentity {
            moved(old: old, new: isInPlace ? old : new)
        }

        /// The same run, whose new store moved to `new` with its folder.
        func to(_ new: StoreLocation) -> RunIdentity {
            moved(old: old, new: new)
        }

        private func moved(old: StoreLocation, new: StoreLocation) -> RunIdentity {
            RunIdentity(
                transaction: transaction,
                old: old,
                oldIdentity: oldIdentity,
                oldBirth: oldBirth,
                new: new,
                policy: policy,
                recordedChoices: recordedChoices,
                descriptions: descriptions,
                restores: restores,
                migratesTo: migratesTo
            )
        }
    }

    /// Identifies a copy after its publication.
    package struct Publication: Hashable, Sendable, Codable {
        package let main: FileIdentity
        /// The external files that move into place, by name.
        package var externalFiles: NameTable<FileIdentity>
        /// The old store's token when the copy was completed under its lock.
        package let oldToken: FileToken
        /// The content digest of the old store, which the copy has, too, unless it was migrated; nil if it was not proved
        /// before publication.
        package let digest: String?
        /// The content digest of the copy, if it was migrated.
        package var migratedDigest: String?
        /// Size and modification time of the copy's main file, which show whether it is untouched.
        package let size: Int64?
        package let modified: FileStatus.Time?
    }

    /// Identifies a replacement of content.
    ///
    /// It has no digests after a migration in place: the model version shows which content a store has.
    package struct Replacement: Hashable, Sendable, Codable {
        package let main: FileIdentity
        package var externalFiles: NameTable<FileIdentity>
        package let oldToken: FileToken
        /// The digest of the replaced store's rows, without external files; nil for an empty file.
        package let loserDigest: String?
        /// The digest of the copy's rows.
        package let digest: String?
        /// The whole content digest of the old store, which the copy has, too, unless it was migrated.
        package let contentDigest: String?
        /// The content digest of the copy, if it was migrated.
        package var migratedDigest: String?
        /// The external files that are removed once the content is replaced; nil for every file that the new content
        /// does not bring.
        package var removedFiles: [String]?
    }

    /// A base beside the journal.
    package struct BaseFile: Hashable, Sendable, Codable {
        package let name: String
        /// The digest of its name and bytes.
        package let digest: String
        /// The file that lists objects with another address in the merged store; nil without an earlier merge.
        ///
        /// The file exists only if there are such objects.
        package var addresses: String?
        /// The digest of that file, as in ``Merging/addresses``.
        package var addressesDigest: String?
    }

    /// Identifies a merge after its transaction.
    package struct Merging: Hashable, Sendable, Codable {
        /// The mark of this merge in the merged store.
        package let epoch: String
        package let from: StoreLocation
        package let into: StoreLocation
        /// The source's state, the common state from then on; nil for a merge outside a share.
        package var oldState: OldState?
        /// The base of the next merge; nil if none is kept.
        package var base: BaseFile?
        /// Identifies the unchanged source, for a merge outside a share.
        package var source: MergedSource?
        /// The file that received the rows; nil in the records of earlier versions.
        package var receiver: Receiver?
        /// True when the old store of a share receives the new one's content.
        package var takesNew: Bool?
        /// The digest of the file that lists the objects with another address; ``RekeyedLines/noFile`` if there are none,
        /// and nil in the records of earlier versions.
        package var addresses: String?
    }

    /// The file that received the rows of a merge.
    package struct Receiver: Hashable, Sendable, Codable {
        package let identity: FileIdentity
        /// Inode numbers are reused; nil where the file system keeps no time of creation.
        package let birth: FileStatus.Time?

        /// Identifies the store; nil if it does not exist.
        init?(_ store: StoreLocation) throws {
            guard let folder = try Directory.openIfPresent(path: store.folder),
                let identity = try folder.status(of: store.name)?.identity
            else { return nil }
            (self.identity, birth) = (identity, try folder.birthTime(of: store.name))
        }

        /// True for the recorded file, possibly after a remount.
        func mayBe(recorded: Receiver) -> Bool {
            let areKnown = birth != nil && recorded.birth != nil
            return identity.mayBe(recorded: recorded.identity) && (!areKnown || birth == recorded.birth)
        }
    }

    /// The source of a merge, and its base.
    package struct MergedSource: Hashable, Sendable, Codable {
        package let identity: FileIdentity
        package let token: FileToken
        /// Nanoseconds since 1970 when the token was taken.
        package let takenAt: Int64
        /// The path of the base; nil without one.
        package let base: String?
        /// The options of the merge.
        package let choices: String
    }

    /// Identifies the unchanged old store.
    package struct OldState: Hashable, Sendable, Codable {
        package let token: FileToken
        /// Nanoseconds since 1970 when the token was taken.
        package let takenAt: Int64
        /// The content digest without the fence.
        package let digest: String

        /// `SettledDigest` ensures that only fully compared content is recorded.
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

    /// The archive of a retired store.
    package struct Archive: Hashable, Sendable, Codable {
        package let path: String
        /// The content digest of the archived store.
        package let digest: String
    }

    /// The end of a run.
    package struct Completion: Hashable, Sendable, Codable {
        package let new: FileIdentity
        package let newUUID: String?
        /// The schema cookie of a new store that has no UUID; every change of a schema counts it up.
        package var newSchemaCookie: UInt32?
        /// The time at which the new store's file was created; nil where the file system does not record it.
        package var newBirth: FileStatus.Time?
        /// The number of shared objects, if counted.
        package let objects: Int64?
        package let oldState: OldState
        package let isFenced: Bool
        /// True when the new store was kept and never received the old one's content.
        package var keepsNew: Bool?
        /// True when the caller decided that rows stay only in the old store.
        package var leavesRows: Bool?
    }
}

// MARK: Names

extension JournalRecord {
    /// True if every recorded file name is a single path component, and every recorded folder is absolute.
    ///
    /// A journal is found by its name, so it may be forged; a name must not lead out of its folder.
    var hasValidNames: Bool {
        switch self {
        case .begin(let run): Self.isValid(run.old) && Self.isValid(run.new)
        case .publishing(let copy): copy.externalFiles.names.allSatisfy(Directory.isName)
        case .replacing(let replacement):
            replacement.externalFiles.names.allSatisfy(Directory.isName)
                && (replacement.removedFiles ?? []).allSatisfy(Directory.isName)
        case .base(let base): Self.isValid(base)
        case .merging(let merging):
            Self.isValid(merging.from) && Self.isValid(merging.into) && merging.base.map(Self.isValid) ?? true
        case .retiring(let name, _), .retired(let name): Directory.isName(name)
        case .nest, .aside, .published, .fenced, .proved, .done, .renewed, .choosing, .merged, .unmerged, .voided,
            .unsharing,
            .unshared, .unfenced, .rolledBack, .restored, .migrated, .archived, .removed:
            true
        }
    }

    private static func isValid(_ location: StoreLocation) -> Bool {
        location.folder.utf8.first == UInt8(ascii: "/") && !location.folder.utf8.contains(0)
            && Directory.isName(location.name)
    }

    private static func isValid(_ base: BaseFile) -> Bool {
        Directory.isName(base.name) && base.addresses.map(Directory.isName) ?? true
    }
}
