import FoundationEssentials
import SafeFiles
import StoreFormat

/// Takes and judges the cheap token by which an old store is known to be unchanged.
///
/// A token is worth recording only when it was read before the content it stands for, or while the store was locked: one
/// that is read afterwards may cover a write that nobody saw.
enum OldStateRecorder {
    /// A token that names a younger timestamp than this could have missed a write on a kernel with coarse timestamps.
    private static let settlingTime = 2 * KernelTimestamps.tick

    /// The token of the store at `location` as it is now.
    static func read(_ location: StoreLocation, in folder: Directory) throws -> TokenReading {
        TokenReading(token: try folder.token(of: location.name), takenAt: now())
    }

    /// True when the token alone proves that nothing was written since `state` was recorded.
    static func isUnchanged(_ state: JournalRecord.OldState, at location: StoreLocation, in folder: Directory) throws
        -> Bool
    {
        try isUnchanged(TokenReading(token: state.token, takenAt: state.takenAt), at: location, in: folder)
    }

    /// The same for a token that was recorded without content.
    static func isUnchanged(_ reading: TokenReading, at location: StoreLocation, in folder: Directory) throws -> Bool {
        guard try folder.token(of: location.name) == reading.token else { return false }
        guard let newest = reading.token.newest else { return false }
        let age = Double(reading.takenAt) / 1e9 - (Double(newest.seconds) + Double(newest.nanoseconds) / 1e9)
        return age >= settlingTime || KernelTimestamps.areFine
    }

    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }
}
