import SafeFiles
import Testing

@Suite("Descriptions with a fault at every call on their file", .serialized)
struct DescriptionsFaultTests {
    private static let file = "descriptions.json"

    /// The stores lie where nothing is counted, so that every fault is one of the descriptions' file.
    @Test("They are written before anything is shared, or it is told that the store is shared and they are missing")
    func descriptions() throws {
        let template = try HabitTemplate.make(journalMode: "wal")
        let sweep = FaultSweep(
            name: "descriptions",
            command: { scratch in
                let stores = scratch.privatePath + "/stores"
                return Command(
                    executable: FaultSweep.buildFolder + "/store-migrate",
                    arguments: [
                        "share", "\(stores)/old/\(template.name)", "\(stores)/new/\(template.name)", "--descriptions",
                        "\(scratch.path)/\(Self.file)",
                    ]
                )
            },
            prepare: { scratch in
                let stores = try Directory.open(path: scratch.privatePath).createDirectory("stores", mode: 0o700)
                try template.write(into: stores.createDirectory("old", mode: 0o700))
                _ = try stores.createDirectory("new", mode: 0o770)
            },
            afterFault: { scratch, fault, ending in
                let new = try Directory.open(path: scratch.privatePath + "/stores/new")
                let isShared = try new.status(of: template.name) != nil
                switch ending {
                case .exited(0): return isShared ? [] : ["it claims success, and nothing was shared"]
                case .exited(6):
                    let isTold = isShared && scratch.output.contains("the store is shared")
                    return isTold ? [] : ["it is not told that the store is shared"]
                case .exited(1), .exited(11), .exited(12), .exited(14):
                    let names = try new.entries()
                    return names.isEmpty ? [] : ["it ended as if nothing was done, and there is \(names)"]
                case .killed(signal: 9) where fault.isDeadly: return []
                default: return ["it ended with \(ending)"]
                }
            },
            afterRerun: { scratch, ending in
                let bytes = try scratch.root.contents(of: Self.file, limit: 1 << 20)
                let isWhole = bytes.first == UInt8(ascii: "{") && bytes.suffix(2) == Array("}\n".utf8)[...]
                let names = try scratch.listing()
                return (ending == .exited(0) ? [] : ["it ended with \(ending)"])
                    + (isWhole ? [] : ["the descriptions are not whole"])
                    + (names == ["tmp/", Self.file] ? [] : ["left behind: \(names.sorted())"])
            }
        )
        let summary = try sweep.run(limit: 40)
        #expect(summary.violations.isEmpty, "\(summary.violations.map(\.description).joined(separator: "\n"))")
        #expect(summary.harmed > summary.runs / 2)
        #expect(summary.kinds.isSuperset(of: [.create, .write, .synchronize, .rename]))
    }
}
