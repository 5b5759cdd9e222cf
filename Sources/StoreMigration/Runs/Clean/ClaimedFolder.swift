import SafeFiles
import StoreAccess

/// The folder to which a superfluous store is renamed, and in which its files are then removed.
///
/// The rename of the store's main file is the decision. What a killed removal left is removed by the next one: the files
/// in the folder, and those that have the name of a main file in it.
struct ClaimedFolder {
    private static let mode: UInt32 = 0o700
    private let name: String
    private let parent: Directory

    init(_ name: String, in parent: Directory) {
        self.name = name
        self.parent = parent
    }

    /// Renames a whole folder, and removes it.
    func claim(folder: String) throws {
        try parent.move(folder, to: name, in: parent)
        try parent.synchronize()
        try remove()
    }

    /// Moves a store with its files here, and removes them.
    func claim(_ store: StoreLocation) throws {
        let claimed = try parent.createDirectory(name, mode: Self.mode)
        try parent.synchronize()
        try parent.move(store.name, to: store.name, in: claimed)
        try claimed.synchronize()
        try parent.synchronize()
        try collect(store, in: claimed)
        try remove()
    }

    /// Completes an interrupted removal.
    func finish(_ isRehearsal: Bool) throws -> Leftover {
        func leftover(_ isRemoved: Bool, _ reason: String) -> Leftover {
            Leftover(
                kind: .interruptedRemoval,
                path: parent.path + "/" + name,
                bytes: 0,
                isRemoved: isRemoved,
                reason: reason
            )
        }
        guard let status = try parent.status(of: name), status.kind == .directory,
            status.owner == ProcessIdentity.effectiveUser, status.mode & 0o077 == 0
        else { return leftover(false, "it is no private folder of this user") }
        if !isRehearsal {
            let claimed = try parent.openDirectory(name)
            for entry in try claimed.entries() where RunName(ofStore: entry)?.isWithdrawn == true {
                try collect(StoreLocation(folder: parent.path, name: entry), in: claimed)
            }
            try remove()
        }
        return leftover(true, "an earlier cleaning proved it to be superfluous")
    }

    /// Moves the files that belong to a store whose main file is here; their names contain the run's transaction ID.
    private func collect(_ store: StoreLocation, in claimed: Directory) throws {
        let files =
            store.sidecarNames + [store.relayName, store.relayName + "-wal", store.relayName + "-shm", store.wakeName]
            + [ReceiptFile.receiptName(for: store.name), store.supportFolderName]
        for file in files where try parent.status(of: file) != nil { try parent.move(file, to: file, in: claimed) }
        try claimed.synchronize()
        try parent.synchronize()
    }

    private func remove() throws {
        try DisplacedFiles.removeContents(of: parent.openDirectory(name))
        try parent.removeDirectory(name)
        try parent.synchronize()
    }
}
