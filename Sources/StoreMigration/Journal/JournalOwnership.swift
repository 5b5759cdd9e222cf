import SafeFiles

/// The owner of a journal and its folder, and whether other users may write them.
struct JournalOwnership {
    let folder: FileStatus
    let journal: FileStatus?

    init(of folder: Directory) throws(FileError) {
        self.folder = try folder.status()
        journal = try folder.status(of: MigrationJournal.name)
    }

    /// The folder's status, if it and the journal belong to one user, and no other user may write them.
    var ofOneUser: FileStatus? {
        guard !Self.isForOthers(folder) else { return nil }
        guard let journal else { return folder }
        return journal.kind == .regular && journal.owner == folder.owner && !Self.isForOthers(journal) ? folder : nil
    }

    /// True when users other than the owner may write the file.
    static func isForOthers(_ file: FileStatus) -> Bool { file.mode & 0o022 != 0 }

    /// The advice for a journal that is not trusted, in `folder`.
    ///
    /// The folder may have the only copy of an archive, a base or parked rows, even if another user created it.
    static func advice(on folder: Directory, isOwnerTrusted: Bool) -> String {
        let kept = try? folder.entries {
            CapturedBase.isOne($0) || MergeRecords.isOne($0) || $0.contains(RetireRun.Fate.archived.mark)
        }
        let stranger =
            kept?.isEmpty == true
            ? "Remove it if it belongs to none of your runs"
            : "Check its folder first: it may have the only copy of a file, such as the archive of a retired store."
                + " If it belongs to none of your runs, move the folder away"
        return "Its records are ignored. " + stranger
            + "; otherwise give it back to the store's owner and remove write access for others (chmod go-w)."
            // A mount without its own modes shows the same mode for all files, and other users may in fact write them.
            + (isOwnerTrusted ? " If chmod has no effect, name a state folder on another file system." : "")
            + " Then run the command again."
    }
}
