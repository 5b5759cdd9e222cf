import CFaultShim
import ChildProcesses
import Foundation
import Glibc
package import SafeFiles
import Synchronization
import SystemPackage

/// The folders for one run: the root, in which the program works, and beside it the run's reports.
package final class Scratch: Sendable {
    /// The prefix of the folders that a run makes for itself.
    private static let ownPrefix = ".store-migrate-"

    /// The shim's report of one run.
    package struct Report {
        package let count: Int
        package let harmed: Int
        /// The function and the path, below the root, of the first call with a fault.
        package let firstHarmed: String
        package let kinds: [CallKind?]
    }

    private let temporary: TemporaryDirectory
    /// The folder whose calls are counted.
    package let root: Directory
    package let path: String
    /// The folder around the root, where calls are not counted.
    package var privatePath: String { temporary.directory.path }
    /// The original files that the current ones represent.
    let guise = Mutex(Guise())
    /// True after a run whose proof failed and which therefore took its fence back; the model knows no damaged store.
    let hasFailedProof = Mutex(false)
    static let reportName = "report"
    private let outputPath: String

    /// The variable with the parent folder of scratches, to choose their file system.
    package static let placeVariable = "STORE_MIGRATE_PLACE"

    /// Makes the folders where the environment says, else in memory where possible, since `fsync` is free there.
    package convenience init() throws {
        let inMemory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil
        let chosen = ProcessInfo.processInfo.environment[Self.placeVariable]
        let temporary = try TemporaryDirectory(prefix: "fault-tests", in: chosen ?? inMemory)
        let root = try temporary.directory.createDirectory("root", mode: 0o700)
        try root.createDirectory("tmp", mode: 0o700).synchronize()
        self.init(root, beside: temporary)
    }

    /// Uses an existing folder as the root, such as one on another file system.
    package convenience init(root path: String, beside temporary: TemporaryDirectory) throws {
        self.init(try Directory.open(path: path), beside: temporary)
    }

    private init(_ root: Directory, beside temporary: TemporaryDirectory) {
        self.temporary = temporary
        self.root = root
        path = root.path
        outputPath = temporary.directory.path + "/output"
    }

    /// The end of the last run's output.
    package var output: String {
        guard let bytes = try? temporary.directory.contents(of: "output", limit: 1_000_000) else { return "" }
        return String(decoding: bytes.suffix(600), as: UTF8.self)
    }

    /// Runs a command below the root, with the shim if a library is given.
    package func run(_ command: Command, shim: String?, point: FaultPoint?, deadline: Deadline) throws -> Command.Ending
    {
        try run(command, shim: shim, environment: point?.environment ?? [:], deadline: deadline)
    }

    /// Runs a command below the root, with the shim and its `environment` if a library is given; the shim reports to the
    /// named file, or not at all.
    package func run(
        _ command: Command,
        shim: String?,
        environment: [String: String],
        report name: String? = Scratch.reportName,
        deadline: Deadline
    ) throws -> Command.Ending {
        try prepared(command, shim: shim, environment: environment, report: name)
            .run(output: outputPath, deadline: deadline)
    }

    /// Runs a command below the root that stops at a call, and continues after `act`.
    package func run(
        _ command: Command,
        stoppingAt point: FaultPoint,
        deadline: Deadline,
        _ act: (_ process: Int32) -> Void
    ) throws -> Command.Ending {
        let command = try prepared(command, shim: FaultSweep.shim, environment: point.environment)
        return Command.ending(of: try command.start(output: outputPath), killingAfter: deadline, whenStopped: act)
    }

    /// A command prepared for the root; the shim, if a library is given, reports to the named file, or not at all.
    func prepared(
        _ command: Command,
        shim: String?,
        environment: [String: String],
        report name: String? = Scratch.reportName
    ) throws -> Command {
        var command = command
        command.environment["TMPDIR"] = command.environment["TMPDIR"] ?? path + "/tmp"
        guard let shim else { return command }
        command.environment["LD_PRELOAD"] = shim
        command.environment["FAULT_SHIM_ROOT"] = path
        command.environment.merge(environment) { _, new in new }
        // A run without a report must not be judged by an earlier one.
        let file = name ?? Self.reportName
        if try temporary.directory.status(of: file) != nil { try temporary.directory.removeFile(file) }
        if name != nil {
            let report = try temporary.directory.createFile(file, mode: 0o600)
            try report.truncate(to: Int64(MemoryLayout<FaultShimReport>.size))
            command.environment["FAULT_SHIM_REPORT"] = privatePath + "/" + file
        }
        return command
    }

    /// Runs a command below the root, and kills it after `time`.
    package func run(_ command: Command, killingAfter time: Duration) throws -> Command.Ending {
        var command = command
        command.environment["TMPDIR"] = command.environment["TMPDIR"] ?? path + "/tmp"
        let process = try command.start(output: outputPath)
        let ending = Command.ending(of: process, killingAfter: Deadline(after: time))
        return ending == .hung ? .killed(signal: SIGKILL) : ending
    }

    /// Starts a command below the root.
    func start(_ command: Command) throws -> ChildProcess {
        try prepared(command, shim: nil, environment: [:]).start(output: outputPath)
    }

    /// The shim's report of the last run with it.
    package func report() throws -> Report {
        let bytes = try temporary.directory.contents(of: Self.reportName, limit: MemoryLayout<FaultShimReport>.size)
        func text(at offset: Int?, _ size: Int) -> String {
            String(decoding: bytes.dropFirst(offset ?? 0).prefix(size).prefix { $0 != 0 }, as: UTF8.self)
        }
        let (count, harmed) = bytes.withUnsafeBytes {
            ($0.loadUnaligned(fromByteOffset: 0, as: UInt32.self), $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        }
        let function = text(at: MemoryLayout<FaultShimReport>.offset(of: \.function), 32)
        let path = text(at: MemoryLayout<FaultShimReport>.offset(of: \.path), 1024)
        let kinds = bytes.dropFirst(Int(FaultShimReportKindsOffset)).prefix(Int(count))
        return Report(
            count: Int(count),
            harmed: Int(harmed),
            firstHarmed: "\(function) \(path)",
            kinds: kinds.map(CallKind.init(shimKind:))
        )
    }

    /// True if the fault hit the fsync of a file with content that must be durable.
    ///
    /// A copy for reading need not be durable, nor a journal of SQLite's in a folder that the run discards. SQLite ignores a
    /// failed fsync of a folder, and so does a command that cleans up more than required.
    func isHarmOfWeight(_ report: Report) throws -> Bool {
        let words = report.firstHarmed.split(separator: " ", maxSplits: 1)
        guard words.count == 2, ["fsync", "fdatasync"].contains(words[0]) else { return false }
        let parts = words[1].split(separator: "/").map(String.init)
        guard let name = parts.last, parts.first != "tmp", !name.hasPrefix(Self.ownPrefix),
            !parts.contains(where: { $0.hasPrefix(Self.ownPrefix + "backup-") })
        else { return false }
        if name.hasSuffix("-journal"), parts.contains(where: { $0.hasPrefix(Self.ownPrefix) }) { return false }
        var folder = root
        for part in parts.dropLast() {
            guard try folder.status(of: part)?.kind == .directory else { return true }
            folder = try folder.openDirectory(part)
        }
        return try folder.status(of: name)?.kind != .directory
    }

    /// The output of the last run.
    package func lines() throws -> [String] {
        String(decoding: try temporary.directory.contents(of: "output", limit: 10_000_000), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// The paths of everything below the root, folders with a slash at the end.
    package func listing() throws -> Set<String> {
        var paths: Set<String> = []
        func visit(_ folder: Directory, _ prefix: String) throws {
            for name in try folder.entries() {
                if try folder.status(of: name)?.kind == .directory {
                    paths.insert(prefix + name + "/")
                    try visit(folder.openDirectory(name), prefix + name + "/")
                } else {
                    paths.insert(prefix + name)
                }
            }
        }
        try visit(root, "")
        return paths
    }
}
