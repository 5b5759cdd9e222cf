/// The cheap answer to "was this store written since?": what the kernel says of its main file, log and journal.
///
/// Equal tokens mean that nothing was committed in between; a different token means only that somebody has to look.
/// The `-shm` file takes no part: readers change it.
package struct FileToken: Hashable, Sendable, Codable {
    /// What of one file takes part in the token.
    package struct Entry: Hashable, Sendable, Codable {
        package let identity: FileIdentity
        package let size: Int64
        package let modified: FileStatus.Time
        package let changed: FileStatus.Time

        package init(_ status: FileStatus) {
            identity = status.identity
            size = status.size
            modified = status.modified
            changed = status.changed
        }

        /// Also after the file system was mounted anew, for tokens are kept; the numbers and the two times suffice.
        package static func == (one: Entry, other: Entry) -> Bool {
            one.identity.mayBe(recorded: other.identity) && one.size == other.size && one.modified == other.modified
                && one.changed == other.changed
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(identity.inode)
            hasher.combine(size)
            hasher.combine(modified)
            hasher.combine(changed)
        }
    }

    package let main: Entry?
    package let writeAheadLog: Entry?
    package let journal: Entry?

    package init(main: Entry?, writeAheadLog: Entry?, journal: Entry?) {
        self.main = main
        self.writeAheadLog = writeAheadLog
        self.journal = journal
    }

    /// True when the main file is as it was and neither a log nor a journal holds anything; opening alone changes nothing.
    package func holdsSameContent(as other: FileToken) -> Bool {
        main == other.main
            && [self, other]
                .allSatisfy {
                    ($0.writeAheadLog?.size ?? 0) == 0 && ($0.journal?.size ?? 0) == 0
                }
    }

    /// The newest timestamp in the token, if it names any file.
    package var newest: FileStatus.Time? {
        [main, writeAheadLog, journal].compactMap { $0 }.flatMap { [$0.modified, $0.changed] }.max()
    }
}
