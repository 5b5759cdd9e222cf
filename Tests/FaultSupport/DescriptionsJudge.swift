import SafeFiles

/// Checks what a share reports about the descriptions' file after a fault.
///
/// The shim does not count calls on the stores, so that every fault hits the descriptions' file.
package struct DescriptionsJudge: Judge {
    private let template: StoreTemplate
    private static let file = "descriptions.json"

    package init(template: StoreTemplate) { self.template = template }

    package var name: String { "descriptions" }

    package func command(_ scratch: Scratch) -> Command {
        let stores = scratch.privatePath + "/stores"
        return Command.tool([
            "share", "\(stores)/old/\(template.name)", "\(stores)/new/\(template.name)", "--descriptions",
            "\(scratch.path)/\(Self.file)",
        ])
    }

    package func prepare(_ scratch: Scratch) throws {
        let stores = try Directory.open(path: scratch.privatePath).createDirectory("stores", mode: 0o700)
        try template.write(into: stores.createDirectory("old", mode: 0o700))
        _ = try stores.createDirectory("new", mode: 0o770)
    }

    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let new = try Directory.open(path: scratch.privatePath + "/stores/new")
        let isShared = try new.status(of: template.name) != nil
        switch ending {
        case .exited(0): return isShared ? [] : ["it claims success, and nothing was shared"]
        case .exited(6):
            let isTold = isShared && scratch.output.contains("the store is shared")
            return isTold ? [] : ["it does not report that the store is shared"]
        case .exited(1), .exited(11), .exited(12), .exited(14):
            let names = try new.entries()
            return names.isEmpty ? [] : ["it ended as if nothing was done, and left \(names)"]
        case .killed(signal: 9) where fault.isDeadly: return []
        default: return ["it ended with \(ending)"]
        }
    }

    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        let bytes = try scratch.root.contents(of: Self.file, limit: 1 << 20)
        let isWhole = bytes.first == UInt8(ascii: "{") && bytes.suffix(2) == Array("}\n".utf8)[...]
        let names = try scratch.listing()
        return (ending == .exited(0) ? [] : ["it ended with \(ending)"])
            + (isWhole ? [] : ["the descriptions are not whole"])
            + (names == ["tmp/", Self.file] ? [] : ["left behind: \(names.sorted())"])
    }
}
