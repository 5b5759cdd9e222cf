import FaultSupport
import SafeFiles

/// Repeats kills, kills during recovery, and races on mounted file systems instead of memory.
struct FileSystems: Proof {
    let name = "file-systems"
    let title = "random kills, double faults and races on mounted ext4, xfs and btrfs"

    private static let harnesses: [any Proof] = [RandomKills(), DoubleFaults(), Races()]

    func run(_ scale: Scale) async throws -> Figure {
        var figure = Figure(unit: "kills, pairs of kills and races", gate: 0)
        if let obstacle = PrivateMachine.obstacle {
            figure.leftOut = "\(obstacle)"
            return figure
        }
        figure.remarks = BlockFileSystem.allCases.compactMap(\.obstacle).map { "left out: \($0)" }
        let possible = BlockFileSystem.allCases.filter { $0.obstacle == nil }
        for (number, fileSystem) in possible.enumerated() {
            var share = scale
            if scale.isExhaustive {
                share.deadline = Deadline(after: scale.deadline.remaining / (possible.count - number))
            }
            let separate = SeparateProofs(fileSystem: fileSystem, names: Self.harnesses.map(\.name))
            for found in try separate.run(share) {
                figure.add(found, from: "\(fileSystem)")
                figure.gate += found.gate
                figure.remarks.append("\(fileSystem): \(found.tried) \(found.unit)")
            }
        }
        return figure
    }
}
