import SafeFiles
public import StoreAccess
import SystemPackage

/// Whether this machine and one folder can do what a share needs: SQLite, the kernel, the folder's file system.
///
/// The file system is tested in a private folder, which is removed afterwards.
public struct Examination: BlockingCalls {
    /// The folder's real path.
    public let folder: String
    /// The release of the running kernel, such as `6.12.3-amd64`.
    public let kernel: String
    /// The bytes that are free in the folder's file system.
    public let freeBytes: Int64
    public let checks: [Check]

    /// The name of the check of the folder's file system.
    public static let fileSystem = "fileSystem"

    /// Examines this machine and the folder at a path; throws ``MigrationError`` when there is no folder.
    public init(of folder: String) throws(MigrationError) {
        do {
            let probe = try FolderProbe(at: folder)
            self.folder = probe.path
            freeBytes = probe.freeBytes
            kernel = KernelRelease.current?.text ?? "unknown"
            checks = Self.sqliteChecks + [Self.kernelCheck(KernelRelease.current)] + probe.checks
        } catch let error as FileError where error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory {
            throw MigrationError(.nothingFound, "there is no folder", path: folder, underlyingError: error)
        } catch {
            throw MigrationError(error)
        }
    }

    public var findings: [Finding] { checks.compactMap { $0.finding(path: folder) } }

    static func kernelCheck(_ release: KernelRelease?) -> Check {
        guard let release else { return Check("kernel", .note, "its release is unknown") }
        return release.hasFineTimestamps
            ? Check("kernel", .fine, "\(release.text), timestamps finer than a tick")
            : Check(
                "kernel",
                .note,
                "\(release.text), timestamps as coarse as a tick; a write in the same tick can be missed"
            )
    }

    /// The relevant properties of SQLite: the modules that genuine stores need, and known defects.
    private static var sqliteChecks: [Check] {
        let options = Set(SQLiteLibrary.compileOptions)
        let needed = ["ENABLE_FTS3", "ENABLE_FTS4", "ENABLE_FTS5", "ENABLE_RTREE"]
        let missing = needed.filter {
            !options.contains($0) && !($0 == "ENABLE_FTS3" && options.contains("ENABLE_FTS4"))
        }
        var checks = [
            Check("sqlite", .fine, "\(SQLiteLibrary.version), \(SQLiteLibrary.sourceID)"),
            missing.isEmpty
                ? Check("sqliteModules", .fine, "full-text search and R*Tree are built in")
                : Check(
                    "sqliteModules",
                    .problem,
                    "built without \(missing.joined(separator: ", ")); use Debian's library"
                ),
        ]
        if options.contains("THREADSAFE=0") {
            checks.append(Check("sqliteThreads", .problem, "built without threads; use Debian's library"))
        }
        if SQLiteLibrary.hasLogResetDefect {
            let range = "SQLite 3.7.0 to 3.51.2 can lose a log that two connections reset at once"
            checks.append(
                Check("logResetDefect", .note, "\(range); stores that others may have open are never checkpointed")
            )
        }
        return checks
    }
}

extension Examination {
    /// One check.
    public struct Check: Hashable, Sendable {
        /// The result of a check.
        public enum State: String, Sendable, Codable {
            case fine
            /// Worth knowing; a share works.
            case note
            /// A share, or a part of it, would not work.
            case problem
        }

        public let name: String
        public let state: State
        /// The result and what to do about it, as a lower-case fragment.
        public let detail: String

        init(_ name: String, _ state: State, _ detail: String) {
            self.name = name
            self.state = state
            self.detail = detail
        }

        /// The check as a finding about the folder at `path`; nil when all is well.
        public func finding(path: String) -> Finding? {
            guard state != .fine else { return nil }
            return Finding(
                Finding.Code(rawValue: name),
                state == .problem ? .error : .info,
                level: .files,
                detail,
                path: path
            )
        }
    }
}
