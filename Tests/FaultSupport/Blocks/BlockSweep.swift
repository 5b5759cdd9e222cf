import Foundation
package import SafeFiles
import TestSupport

/// Runs a command on a file system on a recorded disk, simulates power cuts at any point, and has the judge check the
/// files that the file system recovers; inside a private machine only.
package struct BlockSweep: Sendable {
    /// One state that the judge objects to.
    package struct Violation: Sendable, CustomStringConvertible {
        let name: String
        let seed: Int
        let summary: String
        package let objections: [String]

        package var description: String {
            "STORE_MIGRATE_BLOCK_STATE='\(name)' (seed \(seed)): \(objections.joined(separator: "; "))\n    \(summary)"
        }
    }

    /// The figures and violations of a sweep.
    package struct Summary: Sendable {
        package var writes = 0
        package var flushes = 0
        package var states = 0
        package var violations: [Violation] = []
        /// The time for the states, without the preparation.
        package var duration: Duration = .zero
    }

    package let judge: any Judge
    package let fileSystem: BlockFileSystem
    package var seed = Seed.forFaults
    /// The time after which no further state begins.
    package var deadline = Deadline(after: .seconds(3600))
    /// Ends with the first violation.
    package var stopsAtFirst = false
    /// A folder for the records of runs with violations, which reproduce a state bit by bit.
    package var records: String? = ProcessInfo.processInfo.environment["STORE_MIGRATE_BLOCK_RECORDS"]
    /// The only state to try: a file system, a slash, the name of a command, a slash, and the state that a violation printed.
    package var onlyState: Substring? = ProcessInfo.processInfo.environment["STORE_MIGRATE_BLOCK_STATE"]?[...]
    /// One state in so many gets an additional run after its recovery.
    private static let thoroughness = 4
    private static let image = PrivateMachine.folder + "/image"
    private static let log = PrivateMachine.folder + "/log"
    private var timeLimit: Duration { .seconds(120) }

    package init(_ judge: any Judge, on fileSystem: BlockFileSystem) {
        self.judge = judge
        self.fileSystem = fileSystem
    }

    private var name: String { "\(fileSystem)/\(judge.name)" }

    /// States per second, to one decimal place.
    package static func rate(_ states: Int, in duration: Duration) -> Double {
        (Double(10 * states) / max(0.001, duration / .seconds(1))).rounded() / 10
    }

    /// Why this machine cannot record; nil when it can.
    package static var obstacle: String? {
        if access(BlockDisk.recorderProgram, X_OK) != 0 {
            return "there is no \(BlockDisk.recorderProgram): `make block-recorder`"
        }
        return access("/dev/fuse", F_OK) == 0 ? nil : "there is no /dev/fuse"
    }

    /// Tries as many states as `limit`.
    package func run(limit: Int) throws -> Summary {
        if let onlyState, !onlyState.hasPrefix(name + "/") { return Summary() }
        let temporary = try TemporaryDirectory(prefix: "block-states", in: PrivateMachine.folder)
        let record = try keptRecord(beside: temporary) ?? newRecord(beside: temporary)
        var summary = Summary()
        summary.flushes = record.entries.count { $0 == .flush }
        summary.writes = record.entries.count { if case .write = $0 { true } else { false } }
        var states = record.states(limit: limit, seed: seed)
        if let onlyState {
            states = BlockState(String(onlyState.dropFirst(name.count + 1))).map { [$0] } ?? []
        }
        let start = ContinuousClock.now
        for (number, state) in states.enumerated() {
            guard !deadline.hasPassed, !stopsAtFirst || summary.violations.isEmpty else { break }
            summary.states += 1
            let objections = examine(state, of: record, number: number, beside: temporary)
            guard !objections.isEmpty else { continue }
            summary.violations.append(
                Violation(
                    name: "\(name)/\(state)",
                    seed: seed,
                    summary: record.summary(of: state),
                    objections: objections
                )
            )
        }
        summary.duration = ContinuousClock.now - start
        if !summary.violations.isEmpty { try keep(record, beside: temporary) }
        let rate = Self.rate(summary.states, in: summary.duration)
        let line =
            "\(name): \(summary.writes) writes, \(summary.flushes) flushes, \(summary.states) states,"
            + " \(rate) a second (seed \(seed)), \(summary.violations.count) violations\n"
        // Printed immediately, as progress.
        FileHandle.standardOutput.write(Data(line.utf8))
        return summary
    }

    /// Judges a state, runs the command again and judges that, and for some states runs it once more without a change.
    ///
    /// Half of the disks get another device number, as after a restart of the machine.
    private func examine(
        _ state: BlockState,
        of record: BlockRecord,
        number: Int,
        beside temporary: TemporaryDirectory
    ) -> [String] {
        do {
            try record.write(state, to: Self.image)
            defer { unlink(Self.image) }
            let hadEnded = record.hadEnded(in: state)
            let isElsewhere = state.isElsewhere
            return try BlockDisk.withMounted(Self.image, fileSystem, beside: temporary, elsewhere: isElsewhere) {
                try judge.objections(
                    afterCrashIn: $0,
                    hadEnded: hadEnded,
                    isThorough: number.isMultiple(of: Self.thoroughness),
                    timeLimit: timeLimit
                )
            }
        } catch {
            return ["the judge failed: \(error)"]
        }
    }

    /// Makes a disk, prepares the judge's scratch folder on it, and records the command on it.
    private func newRecord(beside temporary: TemporaryDirectory) throws -> BlockRecord {
        defer { for path in [Self.image, Self.log] { unlink(path) } }
        try BlockDisk.make(Self.image, fileSystem)
        try BlockDisk.withMounted(Self.image, fileSystem, beside: temporary, isNew: true) { try judge.prepare($0) }
        let base = try SparseImage(readingFrom: Self.image)
        try BlockDisk.withRecorded(Self.image, log: Self.log, fileSystem, beside: temporary) { scratch in
            try BlockDisk.mark(BlockRecord.beginning)
            let deadline = Deadline(after: timeLimit)
            let ending = try scratch.run(judge.command(scratch), shim: nil, point: nil, deadline: deadline)
            try BlockDisk.mark(BlockRecord.end)
            let objections = try judge.afterRerun(scratch, ending)
            guard objections.isEmpty else {
                throw UnharmedRunFailure(name: name, objections: objections, output: scratch.output)
            }
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: Self.log))
        return try BlockRecord(base: base, log: log, sectorSize: BlockFileSystem.sectorSize)
    }

    // MARK: Keeping records

    private var keptFolder: String? {
        records.map { $0 + "/" + name.map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined() }
    }

    private func keptRecord(beside temporary: TemporaryDirectory) throws -> BlockRecord? {
        guard let kept = keptFolder, FileManager.default.fileExists(atPath: kept + "/log") else { return nil }
        for file in try FileManager.default.contentsOfDirectory(atPath: kept + "/private") {
            try FileManager.default
                .copyItem(atPath: kept + "/private/" + file, toPath: temporary.directory.path + "/" + file)
        }
        return try BlockRecord(
            base: SparseImage(readingFrom: kept + "/image"),
            log: Data(contentsOf: URL(fileURLWithPath: kept + "/log")),
            sectorSize: BlockFileSystem.sectorSize
        )
    }

    /// Saves the record, and the judge's notes about its scratch folder, unless it was saved already.
    private func keep(_ record: BlockRecord, beside temporary: TemporaryDirectory) throws {
        let manager = FileManager.default
        guard let kept = keptFolder, !manager.fileExists(atPath: kept) else { return }
        try manager.createDirectory(atPath: kept, withIntermediateDirectories: true)
        try record.keep(in: kept)
        try manager.copyItem(atPath: temporary.directory.path, toPath: kept + "/private")
    }
}
