import CFaultShim
import Foundation
import Glibc
package import SafeFiles
import Synchronization
import SystemPackage

extension Scratch {
    /// A map from restored files to the original files that they represent.
    package struct Guise: Sendable {
        var shown: [UInt64: (number: UInt64, changed: FileStatus.Time, times: SimulatedDisk.Times)] = [:]
        /// True if the file system has another device number than before, as after any mount.
        var isElsewhere = false

        package init() {}

        /// The inode number of the original file, or the file's own.
        func number(of status: FileStatus) -> UInt64 { shown[status.identity.inode]?.number ?? status.identity.inode }
    }

    /// The folder for temporary files, which is neither recorded nor restored.
    private static let passing = "tmp"

    /// Reads everything below the root, without the shared memory of logs, which is meaningless after a crash.
    package func disk(in guise: Guise = Guise()) throws -> SimulatedDisk {
        var disk = SimulatedDisk(root: guise.number(of: try root.status()), nodes: [:])
        func visit(_ folder: Directory, _ path: String, _ status: FileStatus) throws {
            var node = SimulatedDisk.Node(status)
            for name in try folder.entries() where !name.hasSuffix("-shm") {
                guard path != self.path || name != Self.passing, let child = try folder.status(of: name) else {
                    continue
                }
                node.entries[name] = guise.number(of: child)
                if child.kind == .directory {
                    try visit(folder.openDirectory(name), path + "/" + name, child)
                } else {
                    var file = SimulatedDisk.Node(child)
                    file.bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
                    file.size = file.bytes.count
                    disk.nodes[guise.number(of: child)] = file
                }
            }
            disk.nodes[guise.number(of: status)] = node
        }
        try visit(root, path, root.status())
        return disk
    }

    /// Restores the files below the root to those of a disk, and returns which file represents which.
    package func materialize(_ disk: SimulatedDisk, elsewhere: Bool) throws -> Guise {
        root.removeContents()
        var first: [UInt64: String] = [:]
        let paths = disk.paths.map { (path: self.path + "/" + $0.path, number: $0.number, node: $0.node) }
        for (path, number, node) in paths {
            if let other = first[number], !node.isFolder {
                try check(link(other, path))
            } else if node.isFolder {
                try check(mkdir(path, 0o700))
            } else {
                try Data(node.content).write(to: URL(fileURLWithPath: path))
            }
            first[number] = path
        }
        for (path, _, node) in paths.reversed() {
            try check(chown(path, node.owner.user, node.owner.group))
            try check(chmod(path, node.mode & 0o7777))
        }
        try check(mkdir(self.path + "/" + Self.passing, 0o700))
        var guise = Guise()
        guise.isElsewhere = elsewhere
        for (path, number, node) in paths {
            var status = stat()
            try check(lstat(path, &status))
            let changed = FileStatus.Time(
                seconds: Int64(status.st_ctim.tv_sec),
                nanoseconds: Int64(status.st_ctim.tv_nsec)
            )
            let own = SimulatedDisk.Times(modified: changed, changed: changed)
            guise.shown[UInt64(status.st_ino)] = (number, changed, node.isFolder ? own : node.times ?? own)
        }
        let made = guise
        self.guise.withLock { $0 = made }
        return guise
    }

    /// Runs a command that sees the restored files as the original ones; `records` makes the shim record its changes.
    package func run(_ command: Command, in guise: Guise, records: Bool, deadline: Deadline) throws -> Command.Ending {
        var command = command
        if !guise.shown.isEmpty {
            command.environment["FAULT_SHIM_INODES"] = try place("inodes", guise.bytes)
        }
        if guise.isElsewhere { command.environment["FAULT_SHIM_DEVICE"] = "1" }
        if records { command.environment["FAULT_SHIM_RECORD"] = try place("record", []) }
        let needsShim = records || !guise.shown.isEmpty
        // Only a recorded run needs the report. Counting is slow: the shim reads the path of each descriptor from /proc.
        return try run(
            command,
            shim: needsShim ? FaultSweep.shim : nil,
            environment: [:],
            report: records ? Scratch.reportName : nil,
            deadline: deadline
        )
    }

    /// The changes of the last recorded run, without those of temporary files.
    package func recordedOperations() throws -> [RecordedOperation] {
        let log = try Array(Data(contentsOf: URL(fileURLWithPath: privatePath + "/record")))
        guard let passing = try root.status(of: Self.passing)?.identity.inode else { return [] }
        var left: Set = [passing]
        return try RecordedOperation.all(in: log)
            .filter { operation in
                if case .create(let name, _) = operation.change, left.contains(name.folder) {
                    left.insert(operation.file)
                }
                return !left.contains(operation.file)
            }
    }

    private func place(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = privatePath + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func check(_ result: Int32) throws {
        guard result == 0 else { throw Errno(rawValue: errno) }
    }
}

extension Scratch.Guise {
    /// The map in the shim's format.
    fileprivate var bytes: [UInt8] {
        shown.sorted { $0.key < $1.key }
            .flatMap { real, file in
                let inode = FaultShimInode(
                    real: real,
                    shown: file.number,
                    real_changed: (file.changed.seconds, file.changed.nanoseconds),
                    modified: (file.times.modified.seconds, file.times.modified.nanoseconds),
                    changed: (file.times.changed.seconds, file.times.changed.nanoseconds)
                )
                return withUnsafeBytes(of: inode) { Array($0) }
            }
    }
}

extension SimulatedDisk.Node {
    fileprivate init(_ status: FileStatus) {
        self.init(mode: (status.kind == .directory ? 0o040000 : 0o100000) | status.mode)
        owner = SimulatedDisk.Owner(user: status.owner, group: status.group)
        times = SimulatedDisk.Times(modified: status.modified, changed: status.changed)
    }
}
