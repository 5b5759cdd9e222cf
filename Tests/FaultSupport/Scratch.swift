import CFaultShim
import ChildProcesses
import Foundation
import Glibc
package import SafeFiles
import Synchronization
import SystemPackage

/// A fresh place for one run: the folder the program works in, and beside it what the run reports.
package final class Scratch: Sendable {
    /// How the names of the folders begin that a run makes for itself.
    private static let ownPrefix = ".store-migrate-"

    /// What the shim tells of one run.
    package struct Report {
        package let count: Int
        package let harmed: Int
        /// The function and the path, below the root, of the first harmed call.
        package let firstHarmed: String
        package let kinds: [CallKind?]
    }

    private let temporary: TemporaryDirectory
    /// The folder whose calls are counted.
    package let root: Directory
    package let path: String
    /// The place around the root, where nothing is counted.
    package var privatePath: String { temporary.directory.path }
    /// What the files that are there now stand for.
    let guise = Mutex(Guise())
    static let reportName = "report"
    private let outputPath: String

    /// The variable that names the folder in which places are made, so that they are on a file system of one's choice.
    package static let placeVariable = "STORE_MIGRATE_PLACE"

    /// Makes the place where the environment says, else in memory where the machine allows it, so that a `fsync` costs
    /// nothing.
    package convenience init() throws {
        let inMemory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil
        let chosen = ProcessInfo.processInfo.environment[Self.placeVariable]
        let temporary = try TemporaryDirectory(prefix: "fault-tests", in: chosen ?? inMemory)
        let root = try temporary.directory.createDirectory("root", mode: 0o700)
        try root.createDirectory("tmp", mode: 0o700).synchronize()
        self.init(root, beside: temporary)
    }

    /// Takes a folder for the place that is there already, such as one on another file system.
    package convenience init(root path: String, beside temporary: TemporaryDirectory) throws {
        self.init(try Directory.open(path: path), beside: temporary)
    }

    private init(_ root: Directory, beside temporary: TemporaryDirectory) {
        self.temporary = temporary
        self.root = root
        path = root.path
        outputPath = temporary.directory.path + "/output"
    }

    /// The end of what the last run printed.
    package var output: String {
        guard let bytes = try? temporary.directory.contents(of: "output", limit: 1_000_000) else { return "" }
        return String(decoding: bytes.suffix(600), as: UTF8.self)
    }

    /// Runs a command below the root, with the shim if a library is given.
    package func run(_ command: Command, shim: String?, point: FaultPoint?, deadline: Deadline) throws -> Command.Ending
    {
        try run(command, shim: shim, environment: point?.environment ?? [:], deadline: deadline)
    }

    /// Runs a command below the root, with the shim if a library is given, which is told of `environment`.
    package func run(
        _ command: Command,
        shim: String?,
        environment: [String: String],
        deadline: Deadline
    ) throws -> Command.Ending {
        try prepared(command, shim: shim, environment: environment).run(output: outputPath, deadline: deadline)
    }

    /// Runs a command below the root that stops at a call, and goes on after `act`.
    package func run(
        _ command: Command,
        stoppingAt point: FaultPoint,
        deadline: Deadline,
        _ act: () -> Void
    ) throws -> Command.Ending {
        let command = try prepared(command, shim: FaultSweep.shim, environment: point.environment)
        return Command.ending(of: try command.start(output: outputPath), killingAfter: deadline, whenStopped: act)
    }

    /// A command as it runs below the root; the shim, if a library is given, reports to a file of its own.
    func prepared(
        _ command: Command,
        shim: String?,
        environment: [String: String],
        report name: String = Scratch.reportName
    ) throws -> Command {
        var command = command
        command.environment["TMPDIR"] = command.environment["TMPDIR"] ?? path + "/tmp"
        if let shim {
            if try temporary.directory.status(of: name) != nil { try temporary.directory.removeFile(name) }
            let report = try temporary.directory.createFile(name, mode: 0o600)
            try report.truncate(to: Int64(MemoryLayout<FaultShimReport>.size))
            command.environment["LD_PRELOAD"] = shim
            command.environment["FAULT_SHIM_ROOT"] = path
            command.environment["FAULT_SHIM_REPORT"] = privatePath + "/" + name
            command.environment.merge(environment) { _, new in new }
        }
        return command
    }

    /// Runs a command below the root, and kills it after a while if it has not ended.
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

    /// What the shim told of the last run that had it.
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

    /// True if what was harmed is the synchronization of a file whose content anybody relies on.
    ///
    /// Nobody does on a copy for reading, nor on a journal of SQLite's in a folder that the run throws away. SQLite makes
    /// nothing of the failed synchronization of a folder, nor does a command where it tidies up more than it has to.
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

    /// Everything the last run printed.
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
