import SafeFiles
import SystemPackage

/// Tests the file system of one folder, in a private folder that is removed afterwards.
struct FolderProbe {
    /// The folder's real path.
    let path: String
    let freeBytes: Int64
    let checks: [Examination.Check]

    private typealias Check = Examination.Check

    init(at path: String) throws {
        let folder = try Directory.open(path: path)
        self.path = folder.path
        freeBytes = try folder.freeBytes()
        let fileSystem = Examination.fileSystem
        let network =
            try folder.isOnNetworkFileSystem()
            ? Check(fileSystem, .problem, "a network file system, whose locks cannot be trusted; use a local disk")
            : Check(fileSystem, .fine, "local")
        checks = try [network] + Self.room(in: folder) + Self.tryOut(in: folder)
    }

    /// The free inodes below which a share may fail; it creates a dozen files and folders.
    private static let neededInodes: Int64 = 16

    /// Checks what no permission provides: a writable mount, and free inodes.
    private static func room(in folder: Directory) throws -> [Examination.Check] {
        let space = try folder.space()
        if space.isReadOnly { return [Check("readOnlyMount", .problem, "mounted read-only; remount it read-write")] }
        guard let free = space.freeInodes, free < neededInodes else { return [] }
        let detail = "\(free) inodes are free, and a share needs up to \(neededInodes); remove files"
        return [Check("inodes", .problem, detail)]
    }

    private static func tryOut(in folder: Directory) -> [Examination.Check] {
        let name = ".store-migrate-doctor-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let staging: Directory
        do {
            staging = try folder.createDirectory(name, mode: 0o700)
        } catch {
            let isRefused = error.errno.isRefusal
            let reason = isRefused ? "this user cannot write here" : "\(error)"
            return [Check("writable", isRefused ? .note : .problem, "\(reason); the other checks were skipped")]
        }
        defer {
            for name in (try? staging.entries()) ?? [] { try? staging.removeFile(name) }
            try? folder.removeDirectory(name)
        }
        return [
            attempt("openat2", "folders open without following links") { _ = try folder.openDirectory(name) },
            attempt("renameat2", "files move into place without replacing any") {
                try staging.createFile("a", mode: 0o600).close()
                try staging.move("a", to: "b", in: staging)
            },
            lease(in: staging),
            clone(in: staging),
        ]
    }

    /// Checks a capability that a share requires.
    private static func attempt(_ name: String, _ promise: String, _ body: () throws -> Void) -> Examination.Check {
        do {
            try body()
            return Check(name, .fine, promise)
        } catch {
            let isFull = (error as? FileError)?.errno.isOutOfSpace == true
            let remedy = isFull ? "free space and inodes" : "use a native Linux file system"
            return Check(name, .problem, "not available here (\(error)); \(remedy)")
        }
    }

    private static func lease(in staging: Directory) -> Examination.Check {
        let missing = "no leases here; retire cannot prove that no process has the old store open"
        do {
            try staging.createFile("leased", mode: 0o600).close()
            guard let lease = try FileLease.acquire(on: "leased", in: staging) else {
                return Check("lease", .note, missing)
            }
            lease.release()
            return Check("lease", .fine, "write leases show whether a store is open")
        } catch {
            return Check("lease", .note, missing)
        }
    }

    private static func clone(in staging: Directory) -> Examination.Check {
        let missing = "copies take their full space; the file system cannot clone files"
        do {
            let source = try staging.createFile("source", mode: 0o600)
            try [UInt8](repeating: 1, count: 4096).withUnsafeBytes { try source.write($0, at: 0) }
            let copied = try staging.createFile("copy", mode: 0o600).clone(from: source)
            return copied ? Check("reflink", .fine, "copies share their blocks") : Check("reflink", .note, missing)
        } catch {
            return Check("reflink", .note, missing)
        }
    }
}
