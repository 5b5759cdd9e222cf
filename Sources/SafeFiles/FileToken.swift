/// A cheap test whether a store was written since: the kernel's metadata of its main file, log and journal.
///
/// Equal tokens mean that nothing was committed in between; different tokens mean only that a full check is needed. The
/// `-shm` file is excluded, because readers change it.
package struct FileToken: Hashable, Sendable, Codable {
    /// The metadata of one file that the token contains.
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

        /// Device numbers are ignored, because a kept token must survive a remount; inode number and the two times
        /// suffice.
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

    /// True if the main file is unchanged, and the log and the journal are empty; opening alone changes nothing.
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
