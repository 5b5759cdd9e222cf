package import ChangeMerging
package import SafeFiles

/// A token and the time when it was read.
package struct TokenReading: Hashable, Sendable {
    package let token: FileToken
    /// Nanoseconds since 1970.
    package let takenAt: Int64

    package init(token: FileToken, takenAt: Int64) {
        self.token = token
        self.takenAt = takenAt
    }

    /// The state of a store with the content `digest` when the token was read.
    package func state(_ digest: SettledDigest) -> JournalRecord.OldState {
        JournalRecord.OldState(token: token, takenAt: takenAt, digest)
    }
}
