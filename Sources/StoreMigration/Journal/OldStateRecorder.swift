public import FoundationEssentials
import SafeFiles
import StoreAccess

/// Records and checks the token that proves cheaply that an old store is unchanged.
///
/// A token must be read before the content it represents, or under the store's lock. A token read later may cover a
/// write that the reader missed.
enum OldStateRecorder {
    /// With coarse timestamps, a token may miss a write whose timestamp is younger than this.
    private static let settlingTime = 2 * KernelTimestamps.tick

    /// The current token of the store at `location`.
    static func read(_ location: StoreLocation, in folder: Directory) throws -> TokenReading {
        TokenReading(token: try folder.token(of: location.name), takenAt: now())
    }

    /// True when the token alone proves that nothing was written since `state` was recorded.
    static func isUnchanged(_ state: JournalRecord.OldState, at location: StoreLocation, in folder: Directory) throws
        -> Bool
    {
        try isWhollyUnchanged(TokenReading(token: state.token, takenAt: state.takenAt), at: location, in: folder)
    }

    /// The same for a token that was recorded without content.
    static func isWhollyUnchanged(_ reading: TokenReading, at location: StoreLocation, in folder: Directory) throws
        -> Bool
    {
        try isUnchanged(reading, at: location, in: folder)
            && areExternalFilesSettled(of: location, in: folder, reading)
    }

    /// The same, disregarding writes to an external file in place: no digest distinguishes such a write from a change
    /// of the file's owner.
    static func isUnchanged(_ reading: TokenReading, at location: StoreLocation, in folder: Directory) throws -> Bool {
        let token = try folder.token(of: location.name)
        // A program that only opened the store may have left an empty log.
        guard token == reading.token || token.holdsSameContent(as: reading.token) else { return false }
        guard let newest = reading.token.newest else { return false }
        return isSettled(newest, reading, isFine: KernelTimestamps.areFine)
    }

    /// False when a write with this timestamp may have followed the reading.
    private static func isSettled(_ time: FileStatus.Time, _ reading: TokenReading, isFine: Bool) -> Bool {
        let age = Double(reading.takenAt) / 1e9 - (Double(time.seconds) + Double(time.nanoseconds) / 1e9)
        return age >= settlingTime || isFine
    }

    /// The same for the folder of external files and the files in it: a token covers only SQLite's files, and a program
    /// can write to an external file in place.
    private static func areExternalFilesSettled(
        of location: StoreLocation,
        in folder: Directory,
        _ reading: TokenReading
    ) throws -> Bool {
        guard let external = try folder.externalData(of: location) else { return true }
        guard isSettled(try external.status().changed, reading, isFine: false) else { return false }
        return try external.names()
            .allSatisfy { name in
                try external.status(of: name).map { isSettled($0.changed, reading, isFine: false) } ?? true
            }
    }

    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }
}

/// The rule that a process started as root acts as the owner of the store it works on.
///
/// Otherwise root would own files beside the store that its programs cannot open.
public enum OldStoreOwner {
    /// Does the same for a destination: without a store there, the folder's owner counts.
    ///
    /// A journal there is ignored: its creator would receive content of an archive that only root may read.
    public static func becomeOwner(ofPlace url: URL) throws(MigrationError) {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let location = StoreLocation(url: url)
        guard let folder = try? Directory.open(path: location.folder) else { return }
        do {
            try ProcessIdentity.becomeOwner(of: folder.status(of: location.name) ?? folder.status())
        } catch {
            throw MigrationError(error)
        }
    }

    /// Gives up root for good and becomes the owner of the store's main file; does nothing for other users.
    ///
    /// Without such a file, as after a retirement, the owner of the journal counts, and without a journal the folder's
    /// owner. `stateFolder` is the journal's folder, if not beside the store.
    ///
    /// It changes the whole process, so call it early in a program.
    public static func become(_ url: URL, stateFolder: URL? = nil) throws(MigrationError) {
        guard ProcessIdentity.effectiveUser == 0 else { return }
        let location = StoreLocation(url: url)
        guard let status = owner(of: location, stateFolder) else { return }
        do {
            try ProcessIdentity.becomeOwner(of: status)
        } catch {
            throw MigrationError(error)
        }
    }

    /// The file whose owner counts; nil when the path is unusable, which the later steps report.
    private static func owner(of location: StoreLocation, _ stateFolder: URL?) -> FileStatus? {
        // The journal may be elsewhere and outlast the folder.
        guard let folder = try? Directory.open(path: location.folder) else {
            return heir(of: location, stateFolder: stateFolder)
        }
        do {
            guard let status = try folder.status(of: location.name) else {
                return heir(of: location, stateFolder: stateFolder)
            }
            return status.kind == .regular ? status : nil
        } catch {
            return nil
        }
    }

    /// The file whose owner counts where there is no store.
    ///
    /// A journal with files of several users confers no identity, and is refused later.
    private static func heir(of location: StoreLocation, stateFolder: URL?) -> FileStatus? {
        do {
            let journal = try StateFolder(of: location, stateFolder: stateFolder).ownership()
            let status = try journal.map(\.ofOneUser) ?? Directory.open(path: location.folder).status()
            // A user ID that this user namespace does not map cannot be assumed.
            return status.flatMap { UserNamespace.current.hides($0.owner) ? nil : $0 }
        } catch {
            return nil
        }
    }
}
