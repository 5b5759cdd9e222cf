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
        checks = [network] + Self.tryOut(in: folder)
    }

    private static func tryOut(in folder: Directory) -> [Examination.Check] {
        let name = ".store-migrate-doctor-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let nest: Directory
        do {
            nest = try folder.createDirectory(name, mode: 0o700)
        } catch {
            return [Check("writable", .note, "this user cannot write here, so the other checks were skipped")]
        }
        defer {
            for name in (try? nest.entries()) ?? [] { try? nest.removeFile(name) }
            try? folder.removeDirectory(name)
        }
        return [
            attempt("openat2", "folders open without following links") { _ = try folder.openDirectory(name) },
            attempt("renameat2", "files move into place without replacing any") {
                try nest.createFile("a", mode: 0o600).close()
                try nest.move("a", to: "b", in: nest)
            },
            lease(in: nest),
            clone(in: nest),
        ]
    }

    /// Checks a capability that a share requires.
    private static func attempt(_ name: String, _ promise: String, _ body: () throws -> Void) -> Examination.Check {
        do {
            try body()
            return Check(name, .fine, promise)
        } catch {
            return Check(name, .problem, "not available here (\(error)); use a native Linux file system")
        }
    }

    private static func lease(in nest: Directory) -> Examination.Check {
        let missing = "no leases here; retire cannot prove that no process has the old store open"
        do {
            try nest.createFile("leased", mode: 0o600).close()
            guard let lease = try FileLease.acquire(on: "leased", in: nest) else {
                return Check("lease", .note, missing)
            }
            lease.release()
            return Check("lease", .fine, "write leases show whether a store is open")
        } catch {
            return Check("lease", .note, missing)
        }
    }

    private static func clone(in nest: Directory) -> Examination.Check {
        let missing = "copies take their full space; the file system cannot clone files"
        do {
            let source = try nest.createFile("source", mode: 0o600)
            try [UInt8](repeating: 1, count: 4096).withUnsafeBytes { try source.write($0, at: 0) }
            let copied = try nest.createFile("copy", mode: 0o600).clone(from: source)
            return copied ? Check("reflink", .fine, "copies share their blocks") : Check("reflink", .note, missing)
        } catch {
            return Check("reflink", .note, missing)
        }
    }
}
