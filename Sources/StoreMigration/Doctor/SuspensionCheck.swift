import Glibc
import SafeFiles
public import StoreAccess
import SystemPackage

/// The locks that processes hold on the files of a group container, and those for which iOS would end a suspended process.
///
/// iOS ends a process that is suspended while it holds a lock on a file of a group container, with the exception code
/// `0xdead10cc`. Apple describes the code ("held on to a file lock or SQLite database lock during suspension") and
/// publishes no exact rule. The model here:
///
/// - in WAL mode a lock to write on the index of the log (`-shm`), or on the main file, ends the process: a transaction
///   that writes, a checkpoint, a recovery; an open connection and a transaction that only reads are spared;
/// - in a rollback mode any lock on the main file ends it, also one to read;
/// - so does any other lock below the folder: `flock`, record locks and leases.
///
/// The check acquires no lock and opens no store that this process has open. Stop the processes first (`SIGSTOP`), or
/// the answer is about a moment that has passed.
public struct SuspensionCheck: BlockingCalls {
    /// The real path of the folder, or of the store, that was examined.
    public let path: String
    public let locks: [GroupLock]
    private let folder: String
    /// Processes whose open files this user cannot see; only those locks of theirs are listed that are on known files.
    public let hiddenProcesses: [Int32]

    /// The locks for which iOS would end their processes.
    public var offences: [GroupLock] { locks.filter(\.endsSuspendedProcess) }

    /// Examines the locks below a folder, or on the files of the store at a path.
    ///
    /// `processes` are those to examine; nil for all that this user can see. Throws ``MigrationError`` when there is nothing
    /// at the path, or when `/proc` cannot be read.
    public init(of path: String, processes: [Int32]? = nil) throws(MigrationError) {
        do {
            let scope = try Scope(path)
            var (locks, hidden, seen): ([GroupLock], [Int32], Set<Int32>) = ([], [], [])
            for process in try processes ?? OpenFiles.processes() {
                do throws(FileError) {
                    let files = try OpenFiles.lockedFiles(of: process)
                    seen.insert(process)
                    for file in files {
                        guard let name = scope.name(of: file.path) else { continue }
                        let isInWALMode = scope.isInWALMode(name, file.locks, examining: processes)
                        locks += file.locks.map {
                            GroupLock($0, process: process, file: name, isInWALMode: isInWALMode)
                        }
                    }
                } catch {
                    // One that has ended holds nothing.
                    if error.errno.isRefusal { hidden.append(process) }
                }
            }
            if !hidden.isEmpty {
                for (name, lock) in try OpenFiles.locks(on: scope.files(), except: seen)
                where hidden.contains(lock.process) {
                    let isInWALMode = scope.isInWALMode(name, [lock], examining: processes)
                    locks.append(GroupLock(lock, process: lock.process, file: name, isInWALMode: isInWALMode))
                }
            }
            self.path = scope.path
            folder = scope.folder.path
            self.locks = locks.sorted {
                ($0.file, $0.process, $0.bytes.lowerBound) < ($1.file, $1.process, $1.bytes.lowerBound)
            }
            hiddenProcesses = hidden
        } catch let error as FileError where error.errno == .noSuchFileOrDirectory || error.errno == .notDirectory {
            throw MigrationError(.nothingFound, "there is no folder and no store", path: path, underlyingError: error)
        } catch {
            throw MigrationError(error)
        }
    }

    /// One finding for each process that iOS would end, with the locks that are the reason.
    public var findings: [Finding] {
        Dictionary(grouping: offences, by: \.process).sorted { $0.key < $1.key }
            .map { process, locks in
                let program = locks.first?.program.map { " (\($0))" } ?? ""
                let reasons = locks.map(\.sentence).joined(separator: "; ")
                return Finding(
                    .lockWhileSuspended,
                    .warning,
                    level: .files,
                    "process \(process)\(program) would be ended with 0xdead10cc if it were suspended now: \(reasons)",
                    path: locks.first.map { folder + "/" + $0.file }
                )
            }
    }

    /// A folder with all that is below it, or the files of one store.
    private struct Scope {
        let path: String
        let folder: Directory
        /// The name of the store's main file; nil for the whole folder.
        private let store: String?

        init(_ path: String) throws {
            if let folder = try? Directory.open(path: path) {
                (self.folder, store, self.path) = (folder, nil, folder.path)
            } else {
                let location = StoreLocation(path: path)
                folder = try Directory.open(path: location.folder)
                guard try folder.status(of: location.name) != nil else {
                    throw FileError(operation: "examine", path: path, errno: .noSuchFileOrDirectory)
                }
                store = location.name
                self.path = folder.path + "/" + location.name
            }
        }

        /// The name of a file from the folder; nil if it is outside.
        func name(of path: String) -> String? {
            let prefix = folder.path == "/" ? "/" : folder.path + "/"
            guard path.hasPrefix(prefix) else { return nil }
            let name = String(path.dropFirst(prefix.count))
            guard let store else { return name }
            return belongs(name, to: store) ? name : nil
        }

        private func belongs(_ name: String, to store: String) -> Bool {
            name == store || ["-shm", "-wal", "-journal"].contains { name == store + $0 }
        }

        /// The files by their identity, for processes whose open files cannot be seen.
        func files() throws -> [FileIdentity: String] {
            var files: [FileIdentity: String] = [:]
            try collect(folder, "", into: &files)
            return files
        }

        private func collect(_ folder: Directory, _ prefix: String, into files: inout [FileIdentity: String]) throws {
            for entry in try folder.entries() {
                guard let status = try folder.status(of: entry) else { continue }
                let name = prefix + entry
                if status.kind == .directory, store == nil, prefix.utf8.count < Int(PATH_MAX) {
                    // A folder that this user cannot list hides the locks below it, as it hides its files.
                    guard let inner = try? folder.openDirectory(entry) else { continue }
                    try collect(inner, name + "/", into: &files)
                } else if store.map({ belongs(name, to: $0) }) ?? true {
                    files[status.identity] = name
                }
            }
        }

        /// True if a main file, or the one that a `-shm` belongs to, is in WAL mode.
        ///
        /// Opening a file breaks leases on it, so only those are opened that SQLite locks. Closing a file drops all
        /// record locks of this process on it, so one that may be open here is not opened: then the presence of its log
        /// decides.
        func isInWALMode(_ name: String, _ locks: [HeldLock], examining processes: [Int32]?) -> Bool {
            if name.hasSuffix("-shm") { return true }
            guard locks.contains(where: GroupLock.isDatabaseLock) else { return false }
            let parts = name.split(separator: "/")
            var holder = folder
            for part in parts.dropLast() {
                guard let next = try? holder.openDirectory(String(part)) else { return false }
                holder = next
            }
            guard let file = parts.last.map(String.init), let status = try? holder.status(of: file) else {
                return false
            }
            let isOpenHere =
                processes?.contains(getpid()) ?? true
                || ((try? OpenFiles.isOpenInThisProcess(status.identity)) ?? true)
            guard !isOpenHere else { return (try? holder.status(of: file + "-shm")) != nil }
            guard let main = try? holder.openFile(file, for: .reading) else { return false }
            return withUnsafeTemporaryAllocation(byteCount: 2, alignment: 1) { buffer in
                (try? main.read(into: buffer, at: StoreHeaderBytes.versions)) == 2 && buffer.allSatisfy { $0 == 2 }
            }
        }
    }

    private enum StoreHeaderBytes {
        /// The two bytes of the file format's versions; 2 stands for WAL.
        static let versions: Int64 = 18
    }
}

extension GroupLock {
    /// What is held, in words: `a transaction that writes, by a lock on Habits.sqlite-shm`.
    public var sentence: String {
        let what =
            switch purpose {
            case .openConnection: "an open connection"
            case .readTransaction: "a transaction that reads"
            case .writeTransaction: "a transaction that writes"
            case .checkpoint: "a checkpoint"
            case .recovery: "a recovery of the log"
            case .otherFile: "a \(isExclusive ? "" : "shared ")lock (\(kind))"
            }
        return purpose == .otherFile ? "\(what) on \(file)" : "\(what), by a lock on \(file)"
    }
}
