import FoundationEssentials
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
