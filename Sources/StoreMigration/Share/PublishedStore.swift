import SafeFiles
import StoreFormat
import SystemPackage

/// What a run has done so far, for those who go on with it or take it back.
struct PublishedStore {
    let context: RunContext
    var nest: Nest?
    var copy: StagedCopy?
    var aside: AsideFolder?
    /// The connection that holds the old store's write lock.
    var lock: StoreConnection?
    /// Set once the copy is about to appear.
    var publication: JournalRecord.Publication?
    /// Set once the new store is in place.
    var identity: FileIdentity?
    /// The new store as it was when it appeared.
    var token: FileToken?
    var lockHold: Duration?
    var findings: [Finding] = []

    init(context: RunContext) {
        self.context = context
    }

    /// The base's name in the journal's folder.
    static let baseName = "base.sqlite"

    /// Keeps the completed copy as the base of a later merge, cloned where the file system can.
    func keepBase(_ copy: StagedCopy) throws {
        let folder = try StateFolder(of: context.old, stateFolder: context.options.stateFolder).open()
        if try folder.status(of: Self.baseName) != nil { try folder.removeFile(Self.baseName) }
        let base = try folder.createFile(Self.baseName, mode: 0o600)
        if try !base.clone(from: copy.main) { try copy.main.copyBytes(to: base, chunk: 1 << 20) }
        try base.synchronize()
        try base.close()
        try folder.synchronize()
    }
}
