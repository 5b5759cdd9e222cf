import SafeFiles

/// Whose a journal and the folder around it are, and who else may write them.
struct JournalOwnership {
    let folder: FileStatus
    let journal: FileStatus?

    init(of folder: Directory) throws(FileError) {
        self.folder = try folder.status()
        journal = try folder.status(of: MigrationJournal.name)
    }

    /// The folder, if it and the journal are one user's alone: whatever they say, it is that user who says it.
    var ofOneUser: FileStatus? {
        guard !Self.isForOthers(folder) else { return nil }
        guard let journal else { return folder }
        return journal.kind == .regular && journal.owner == folder.owner && !Self.isForOthers(journal) ? folder : nil
    }

    /// True when others than the file's owner may write it.
    static func isForOthers(_ file: FileStatus) -> Bool { file.mode & 0o022 != 0 }

    /// What to do about a journal that is not believed; `folder` is where it lies.
    ///
    /// An archive, a base or the rows that lost a merge are nowhere else, whoever left them there.
    static func advice(on folder: Directory, isOwnerTrusted: Bool) -> String {
        let kept = try? folder.entries {
            CapturedBase.isOne($0) || MergeRecords.isOne($0) || $0.contains(RetireRun.Fate.archived.mark)
        }
        let stranger =
            kept?.isEmpty == true
            ? "Remove it if it is no run's of yours"
            : "Look at its folder first: what is kept there, as the archive of a retired store, may be nowhere else."
                + " If it is no run's of yours, move the folder away"
        return "Nothing it says is believed. " + stranger
            + "; else give it back to the store's owner and take the others' right to write (chmod go-w)."
            // A mount without modes of its own shows the same for all files, and others may indeed write them.
            + (isOwnerTrusted ? " Where chmod changes nothing, name a folder on another file system with --state." : "")
            + " Then run the command again."
    }
}
