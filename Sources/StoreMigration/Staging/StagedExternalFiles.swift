import SafeFiles
import StoreAccess
import SystemPackage

/// The external binary data of a copy: staged, updated under the lock, moved into place.
final class StagedExternalFiles {
    private let source: Directory?
    private let staged: Directory?
    private let group: UInt32
    private let snapshot: ExternalFilesSnapshot?

    /// The staged files by name.
    var identities: NameTable<FileIdentity> {
        snapshot?.copies.mapValues(\.identity) ?? NameTable()
    }
    var count: Int { names.count }
    private var names: NameList { snapshot?.copies.names ?? NameList() }
    var bytes: Int64 { snapshot?.bytes ?? 0 }
    /// The mode and group that a strategy requires for the files and their folders.
    private var rights: FileRights?

    /// Prepares to stage the files of `source`, the external data folder of the old store; nil when it has none.
    init(source: Directory?, staging: Directory, group: UInt32) throws {
        self.source = source
        self.group = group
        let staged = try source.map { _ in try staging.createDirectory(StagingFolder.externalName, mode: 0o700) }
        self.staged = staged
        if let source, let staged {
            snapshot = ExternalFilesSnapshot(of: source, in: staged, isDurable: true) {
                try $0.setGroupIfAllowed(group)
            }
        } else {
            snapshot = nil
        }
    }

    /// The size of the source files.
    func sourceBytes() throws -> Int64 {
        guard let source else { return 0 }
        return try source.names().reduce(0) { try $0 + (source.status(of: $1)?.size ?? 0) }
    }

    /// Copies new and changed files, drops removed ones and flushes them; returns true if anything changed.
    @discardableResult
    func update(monitor: WorkMonitor) throws -> Bool { try snapshot?.update(monitor: monitor) ?? false }

    /// Removes staged files to which no row refers; call it after the last update.
    func discard(_ names: some Collection<String>) throws { try snapshot?.discard(names) }

    /// The staged files that differ from an original that is unchanged since it was copied.
    ///
    /// A changed original is copied again before the copy is complete, and a removed one is dropped.
    func differingFiles() throws -> [String] {
        guard let staged else { return [] }
        return try differingFiles(in: staged)
    }

    /// The same for the published files.
    func differingFiles(from location: StoreLocation, in container: Directory) throws -> [String] {
        guard !names.isEmpty else { return [] }
        guard let target = try container.externalData(of: location) else { return Array(names) }
        return try differingFiles(in: target)
    }

    private func differingFiles(in folder: Directory) throws -> [String] {
        guard let source, let snapshot else { return [] }
        return try snapshot.copies.names
            .filter { name in
                guard try isAsCopied(name, in: source) else { return false }
                let isEqual = try folder.holdsEqualFile(name, to: source)
                return try !isEqual && isAsCopied(name, in: source)
            }
    }

    private func isAsCopied(_ name: String, in source: Directory) throws -> Bool {
        try source.status(of: name).map { FileToken.Entry($0) } == snapshot?.copies[name]?.original
    }

    /// Sets mode and group of every staged file, and later of the folders.
    func give(_ rights: FileRights) throws {
        self.rights = rights
        guard let staged else { return }
        for name in names {
            let file = try staged.openFile(name, for: .writing)
            try rights.apply(to: file)
            try file.synchronize()
            try file.close()
        }
    }

    /// Moves every staged file into the external data folder of `location`, which is created if missing.
    ///
    /// An existing file of that name stays if it is equal; otherwise `moveAside` receives it.
    func publish(
        to location: StoreLocation,
        in container: Directory,
        moveAside: (String, Directory) throws -> Void
    ) throws {
        guard let source, let staged, !names.isEmpty else { return }
        let mode = try rights?.mode.map(StoreTreatment.folderMode) ?? container.inheriting(source.status().mode & 0o777)
        let group = rights?.group ?? group
        let wasThere = try container.externalData(of: location) != nil
        let target = try container.ensureExternalData(of: location, mode: mode, group: group)
        // An existing folder keeps its mode and group.
        if !wasThere { try requireRights(of: target) }
        for name in names {
            if try target.status(of: name) != nil {
                if try target.holdsEqualFile(name, to: staged) { continue }
                try moveAside(name, target)
            }
            try staged.move(name, to: name, in: target)
        }
        try target.synchronize()
    }

    /// Throws when a folder lacks the required mode or group: the kernel silently drops a setgid bit when the user is
    /// not a member of the group.
    private func requireRights(of folder: Directory) throws {
        guard let rights, let mode = rights.mode.map(StoreTreatment.folderMode) else { return }
        let status = try folder.status()
        guard status.mode & 0o7777 == mode, rights.group.map({ status.group == $0 }) ?? true else {
            throw MigrationError(
                .verificationFailed,
                "the folder of external files did not keep its mode or its group",
                path: folder.path,
                advice: "Check that the file system keeps modes and groups, and that this user belongs to the group."
            )
        }
    }

    /// Removes the files that a run published, identified by inode, and folders that become empty.
    static func takeBack(
        _ identities: NameTable<FileIdentity>,
        of location: StoreLocation,
        in container: Directory
    ) throws {
        // Any other entry of that name existed before, and made the run fail.
        guard !identities.isEmpty, try container.status(of: location.supportFolderName)?.kind == .directory else {
            return
        }
        let support = try container.openDirectory(location.supportFolderName)
        if try support.status(of: StoreLocation.externalDataFolderName)?.kind == .directory {
            let target = try support.openDirectory(StoreLocation.externalDataFolderName)
            for (name, identity) in identities
            where try target.status(of: name)?.identity.mayBe(recorded: identity) == true {
                try target.removeFile(name)
            }
            if try target.names().isEmpty { try support.removeDirectory(StoreLocation.externalDataFolderName) }
        }
        if try support.entries().isEmpty { try container.removeDirectory(location.supportFolderName) }
        try container.synchronize()
    }
}

extension Directory {
    /// The external data folder of `location` in this folder; nil when there is none.
    func externalData(of location: StoreLocation) throws -> Directory? {
        guard try status(of: location.supportFolderName)?.kind == .directory else { return nil }
        let support = try openDirectory(location.supportFolderName)
        guard try support.status(of: StoreLocation.externalDataFolderName)?.kind == .directory else { return nil }
        return try support.openDirectory(StoreLocation.externalDataFolderName)
    }

    /// Opens the external data folder of `location`; creates it durably with these rights if missing.
    func ensureExternalData(of location: StoreLocation, mode: UInt32, group: UInt32? = nil) throws -> Directory {
        try ExternalData.ensure(of: location, in: self, mode: mode, group: group)
    }
}
