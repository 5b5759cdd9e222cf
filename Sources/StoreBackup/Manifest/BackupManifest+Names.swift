import StoreFormat

extension BackupManifest {
    /// The location of the store when the archive is unpacked into `folder`.
    func location(in folder: String) -> StoreLocation { StoreLocation(folder: folder, name: store.name) }

    /// Throws unless the members are exactly those of a store: its main file, its external files, its relay.
    ///
    /// A log or journal is refused: the next process that opens the store would replay it.
    func requireSoundNames(
        _ limits: ArchiveLimits,
        path: String,
        _ code: BackupError.Code = .refused,
        monitor: WorkMonitor
    ) throws {
        func refuse(_ message: String) -> BackupError { BackupError(code, path: path, message) }

        guard members.count <= limits.members else {
            throw refuse("the archive has more than \(limits.members) members")
        }
        guard Self.isSound(store.name, limits), store.name != Self.memberName else {
            throw refuse("the store's name cannot be used in an archive")
        }
        guard members.contains(where: { $0.name == store.name }) else { throw refuse("the main file is missing") }
        let place = StoreLocation(folder: "", name: store.name)
        let external = place.supportFolderName + "/" + StoreLocation.externalDataFolderName + "/"
        guard !hasTwins else { throw refuse("two members have the same name") }
        var total: Int64 = 0
        for member in members {
            try monitor.checkCancellation()
            let name = member.name
            let isKnown =
                name == store.name || name == place.relayName
                || name.hasPrefix(external) && Self.isSound(String(name.dropFirst(external.count)), limits)
            guard isKnown else { throw refuse("a member does not belong to a backup of this store") }
            let (sum, overflow) = total.addingReportingOverflow(member.bytes)
            guard member.bytes >= 0, !overflow else { throw refuse("a member's size is impossible") }
            total = sum
        }
        guard store.mode & ~0o666 == 0 else { throw refuse("the store's mode is impossible") }
    }

    /// True where two members have the same name.
    ///
    /// Names that differ only in case are one file on many systems. Swift's strings compare both encodings of é as equal.
    private var hasTwins: Bool {
        let hashes = members.map { $0.name.lowercased().hashValue }.sorted()
        let twins = Set(zip(hashes, hashes.dropFirst()).lazy.filter { $0 == $1 }.map { $0.0 })
        guard !twins.isEmpty else { return false }
        let names = members.lazy.map { $0.name.lowercased() }.filter { twins.contains($0.hashValue) }
        return Set(names).count < names.count
    }

    /// True for the name of a store that an archive can contain.
    package static func canHold(storeName name: String) -> Bool {
        isSound(name, ArchiveLimits()) && name != memberName
    }

    /// True for a single path component that means the same on every system.
    private static func isSound(_ name: String, _ limits: ArchiveLimits) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= limits.nameBytes
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
