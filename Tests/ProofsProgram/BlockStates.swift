import FaultSupport
import Foundation
import SafeFiles
import Synchronization

/// Recovery of every command after a power cut below ext4, xfs and btrfs.
///
/// The disk below the file system is recorded write by write. A state has all writes up to a point, less any part that was
/// not flushed. The file system mounts it and replays its own journal; then the judge checks the files.
struct BlockStates: Proof {
    let name = "block-states"
    let title = "power cuts below ext4, xfs and btrfs: any prefix of the writes to the disk, less any part not flushed"

    /// For each file system and each journal mode.
    private static let gate = 500

    func run(_ scale: Scale) async throws -> Figure {
        if let fileSystem = scale.fileSystem { return try run(scale, on: fileSystem) }
        var figure = Figure(unit: "states", gate: 0)
        if let obstacle = PrivateMachine.obstacle ?? BlockSweep.obstacle {
            figure.leftOut = "\(obstacle)"
            return figure
        }
        let possible = BlockFileSystem.allCases.filter { $0.obstacle == nil }
        figure.remarks = BlockFileSystem.allCases.compactMap(\.obstacle).map { "left out: \($0)" }
        let jobs = possible.flatMap { fileSystem in scale.journalModes.map { (fileSystem, $0) } }
        figure.gate = jobs.count * Self.gate
        var seed = scale.seed
        repeat {
            try round(jobs, scale, seed: seed, &figure)
            seed += 1
            Page.say("\(name): \(figure.tried) states so far, \(figure.violations.count) violations")
        } while scale.isExhaustive && !scale.deadline.hasPassed
        return figure
    }

    /// Every job once, each in its own process, so that open files and child processes do not affect other jobs.
    private func round(
        _ jobs: [(fileSystem: BlockFileSystem, mode: String)],
        _ scale: Scale,
        seed: Int,
        _ figure: inout Figure
    ) throws {
        var scale = scale
        scale.seed = seed
        scale.isExhaustive = false
        let part = scale
        let sum = Mutex(figure)
        Work.forEach(jobs, until: scale.deadline) { job in
            let separate = SeparateProofs(
                fileSystem: job.fileSystem,
                names: [name],
                arguments: ["--journal-mode", job.mode]
            )
            let figures: [Figure]
            do { figures = try separate.run(part) } catch {
                sum.withLock { $0.violations.append("\(job.fileSystem), \(job.mode): \(error)") }
                return
            }
            sum.withLock { sum in
                for figure in figures { sum.add(figure, from: "seed \(seed), \(job.mode)") }
            }
        }
        figure = sum.withLock { $0 }
    }

    /// All commands on one file system, in this process.
    private func run(_ scale: Scale, on fileSystem: BlockFileSystem) throws -> Figure {
        let judges = try scale.journalModes.flatMap { try Commands.all(scale.only, journalMode: $0) }
        var figure = Figure(unit: "states", gate: scale.stopsAtFirst ? 0 : Self.gate * scale.journalModes.count)
        let wanted = scale.stopsAtFirst ? 20 * judges.count : figure.gate
        var (writes, time) = (0, Duration.zero)
        for (number, judge) in judges.enumerated() where !scale.deadline.hasPassed {
            var sweep = BlockSweep(judge, on: fileSystem)
            sweep.seed = scale.seed
            sweep.deadline = scale.deadline
            sweep.stopsAtFirst = scale.stopsAtFirst
            // Some commands have fewer states than their share; those after them have more.
            let left = judges.count - number
            let summary = try sweep.run(limit: max(0, wanted - figure.tried + left - 1) / left)
            figure.tried += summary.states
            figure.violations += summary.violations.map(\.description)
            writes += summary.writes
            time += summary.duration
            if scale.stopsAtFirst && !figure.violations.isEmpty { break }
        }
        figure.remarks = [
            "\(fileSystem): \(figure.tried) states of \(judges.count) commands with \(writes) writes,"
                + " \(figure.violations.count) violations;"
                + " \(BlockSweep.rate(figure.tried, in: time)) a second"
        ]
        return figure
    }
}
