import SafeFiles

extension SeededBug {
    /// The harnesses and suites that should notice the bug.
    var witnesses: [Witness] {
        switch self {
        case .folderNotSynchronized: [.proof("crash-states", "share,"), .proof("crash-states", "backup")]
        case .fileNotSynchronized: [.proof("crash-states", "share,"), .suite("DurableFileTests")]
        case .failedSynchronizationRepeated: [.suite("DurableFileTests"), .proof("single-faults", "share,")]
        case .takenNameReplaced: [.suite("DirectoryTests"), .proof("neighbours")]
        case .linksFollowed: [.proof("swaps"), .suite("OpeningTests")]
        case .leaseNotTaken: [.suite("FileLeaseTests"), .suite("RetireTests")]
        case .lockNotTaken: [.suite("FileLockTests"), .proof("races")]
        case .shortWriteTakenForWhole: [.proof("single-faults", "share,"), .suite("DurableFileTests")]
        case .interruptionTakenForEnd: [.proof("single-faults", "share,"), .suite("MendingTests")]
        case .fullDiskNotNoticed: [.proof("single-faults", "backup"), .suite("MendingTests")]
        case .modeNotSet: [.proof("single-faults", "described"), .suite("DirectoryTests")]
        case .replacedInPlace: [.suite("DirectoryTests"), .proof("crash-states", "share,")]
        case .fencedBeforePublishing: [.proof("single-faults", "share,"), .proof("random-kills", "share,")]
        case .fenceLeftOut: [.proof("single-faults", "share,"), .proof("live-writers"), .suite("FenceTests")]
        case .metadataFenced: [.proof("single-faults", "share,"), .suite("FenceTests")]
        case .shadowDataFenced: [.suite("FenceTests")]
        case .unlockedBeforePublishing: [.proof("live-writers"), .suite("LiveWriterTests/nothingIsLost")]
        case .tailLeftOut: [.proof("live-writers"), .suite("LiveWriterTests/nothingIsLost")]
        case .externalFileLeftOut: [.proof("single-faults", "share,"), .proof("random-kills", "share,")]
        case .liveDescriptorClosed: [.proof("live-writers"), .suite("LiveWriterTests/nothingIsLost")]
        case .sidecarLeftInPlace: [.suite("ScenarioTests")]
        case .mainFileRenamed: [.proof("single-faults", "replace"), .suite("DestinationTests")]
        case .nestNotJournalled: [.proof("single-faults", "share,"), .proof("double-faults", "share,")]
        case .publicationNotJournalled: [.suite("InterruptedRunTests"), .suite("ScenarioTests")]
        case .checksumNotCompared: [.suite("MigrationJournalTests")]
        case .rowNotParked:
            [.proof("single-faults", "lateWrites,"), .suite("BothPlacesTests"), .suite("LateWriteTests")]
        case .epochNotWritten: [.proof("single-faults", "lateWrites,"), .suite("LateWriteTests")]
        case .keyNotChanged: [.proof("single-faults", "merge,"), .suite("LateWriteTests")]
        case .historyNotWritten: [.proof("single-faults", "merge,"), .suite("LateWriteTests")]
        case .noticeAcknowledgedEarly: [.proof("single-faults", "relay"), .proof("random-kills", "relay")]
        }
    }
}
