import FoundationEssentials
import SafeFiles
import StoreFormat

/// Takes and judges the cheap token by which an old store is known to be unchanged.
enum OldStateRecorder {
    /// A token that names a younger timestamp than this could have missed a write on a kernel with coarse timestamps.
    private static let settlingTime: Double = 0.05

    /// The state of the store at `location`, whose content has `digest`.
    static func state(
        of location: StoreLocation,
        in folder: Directory,
        digest: String
    ) throws -> JournalRecord.OldState {
        JournalRecord.OldState(
            token: try folder.token(of: location.name),
            takenAt: now(),
            digest: digest
        )
    }

    /// True when the token alone proves that nothing was written since `state` was recorded.
    static func isUnchanged(_ state: JournalRecord.OldState, at location: StoreLocation, in folder: Directory) throws
        -> Bool
    {
        guard try folder.token(of: location.name) == state.token else { return false }
        guard let newest = state.token.newest else { return false }
        let age = Double(state.takenAt) / 1e9 - (Double(newest.seconds) + Double(newest.nanoseconds) / 1e9)
        return age >= settlingTime || KernelTimestamps.areFine
    }

    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }
}
