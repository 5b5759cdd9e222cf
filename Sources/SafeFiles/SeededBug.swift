#if DEBUG
import Glibc
#endif

/// A known mistake that the product makes where those who try its tests ask for it; no release build can be asked.
///
/// Each stands for one of the ways in which a rule of the commit protocol, or of a merge, may be broken by a later change.
/// Tests that do not notice such a mistake prove nothing.
package enum SeededBug: CaseIterable, Sendable {
    // Of files.
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
    // Of a share.
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
    // Of a merge.
    case rowNotParked
    case epochNotWritten
    case keyNotChanged
    case historyNotWritten
    // Of the rest.
    case noticeAcknowledgedEarly

    /// True where this mistake is to be made.
    package var isMade: Bool {
        #if DEBUG
        Self.chosen == self
        #else
        false
        #endif
    }

    /// True for the name of the environment's variable that asks for a mistake.
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
