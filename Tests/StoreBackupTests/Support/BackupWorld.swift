import FoundationEssentials
import SafeFiles
import StoreAccess
import Synchronization
import TestSupport

@testable import StoreBackup

/// A folder with stores, and one for archives.
struct BackupWorld {
    let stores: ScratchFolder
    let archives: ScratchFolder

    init() throws {
        stores = try ScratchFolder()
        archives = try ScratchFolder()
    }

    /// A store with two tables, and an archive of it.
    static func small(_ form: BackupForm = .standard) throws -> (world: BackupWorld, archive: StoreLocation) {
        let world = try BackupWorld()
        try world.stores.makeStore("PRAGMA page_size=512; CREATE TABLE t (x); INSERT INTO t VALUES (1), ('two')")
        return (world, try world.make("store.sqlite", form: form))
    }

    /// Backs a store up and returns the archive's location.
    @discardableResult
    func make(_ name: String, form: BackupForm = .standard, as archive: String? = nil) throws -> StoreLocation {
        let place = archives.location(archive ?? name + form.fileNameEnd)
        try maker(stores.location(name), form).make(at: place.url)
        return place
    }

    func maker(_ store: StoreLocation, _ form: BackupForm = .standard) -> BackupMaker {
        var options = BackupOptions()
        options.form = form
        options.lockTimeout = .seconds(120)
        return BackupMaker(of: store, options: options)
    }

    /// All members of the archive, for tests to change.
    func members(of archive: StoreLocation) throws -> [(name: String, bytes: [UInt8])] {
        let file = try archives.directory.openFile(archive.name, for: .reading)
        let reader = try ArchiveReader(ArchiveSource(file))
        var members: [(String, [UInt8])] = []
        while let member = try reader.next() { members.append((member.name, try reader.content())) }
        return members
    }

    /// Asks `work` to stop at its first question, then at its second, and so on, until it succeeds; returns how often it stopped.
    ///
    /// Any other error than the one for a request to stop ends this, too.
    static func stopAtEachPoint(_ work: (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Void) throws -> Int {
        for points in 0..<10_000 {
            let questions = Mutex(0)
            do {
                try work {
                    questions.withLock { count in
                        count += 1
                        return count > points
                    }
                }
                return points
            } catch let error as StoreError where error.code == .cancelled {}
        }
        throw StoreError(.failed, path: "", "it never ends")
    }

    static func digest(of location: StoreLocation) throws -> String {
        try StoreReader(lockTimeout: .seconds(60))
            .withView(of: location) { try StoreDigest(of: $0.connection, externalData: $0.externalData).value }
    }
}

extension ScratchFolder {
    /// Creates the folder for the external files of a store.
    func createExternalFolder(of store: StoreLocation) throws -> Directory {
        try directory.createDirectory(store.supportFolderName, mode: 0o755)
            .createDirectory(StoreLocation.externalDataFolderName, mode: 0o755)
    }
}

extension ArchiveReader {
    /// The bytes of the current member.
    func content() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try readContent { bytes.append(contentsOf: $0) }
        return bytes
    }
}

extension ArchiveWriter {
    /// Adds a member with these bytes.
    func add(_ name: String, _ bytes: [UInt8]) throws {
        try add(name, bytes: Int64(bytes.count)) { put in try bytes.withUnsafeBytes(put) }
    }
}
