#if DEBUG
import Glibc
#endif

/// A deliberate bug that an environment variable enables in debug builds; release builds ignore the variable.
///
/// Each breaks a rule of the commit protocol, or of a merge, as a later change might. A test that does not detect its
/// bug proves nothing.
package enum SeededBug: CaseIterable, Sendable {
    // Bugs in file handling.
    case folderNotSynchronized
    case fileNotSynchronized
    case failedSynchronizationRepeated
    case takenNameReplaced
    case linksFollowed
    case leaseNotTaken
    case lockNotTaken
    case shortWriteTakenForWhole
    case interruptionTakenForEnd
    case fullDiskNotNoticed
    case modeNotSet
    case replacedInPlace
    // Bugs in a share.
    case fencedBeforePublishing
    case fenceLeftOut
    case metadataFenced
    case shadowDataFenced
    case unlockedBeforePublishing
    case tailLeftOut
    case externalFileLeftOut
    case liveDescriptorClosed
    case sidecarLeftInPlace
    case mainFileRenamed
    case nestNotJournalled
    case publicationNotJournalled
    case checksumNotCompared
    // Bugs in a merge.
    case rowNotParked
    case epochNotWritten
    case keyNotChanged
    case historyNotWritten
    // Other bugs.
    case noticeAcknowledgedEarly

    /// True if this bug is enabled.
    package var isMade: Bool {
        #if DEBUG
        Self.chosen == self
        #else
        false
        #endif
    }

    /// True if the environment variable enables a bug.
    package static func isAsked(by variable: String) -> Bool {
        #if DEBUG
        variable == Self.variable
        #else
        false
        #endif
    }

    #if DEBUG
    private static let variable = "STORE_MIGRATE_SEEDED_BUG"
    private static let chosen: SeededBug? = getenv(variable)
        .flatMap { name in allCases.first { "\($0)" == String(cString: name) } }
    #endif
}
