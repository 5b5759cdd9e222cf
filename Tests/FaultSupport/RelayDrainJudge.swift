import Foundation
import SafeFiles

/// Checks that each notice of a relay reaches its consumer after any fault of the draining command.
package struct RelayDrainJudge: Judge {
    private static let consumer = "widget"
    static let places: Set<Int> = [1, 2, 3]
    /// The file with the output of several runs, outside the counted folder.
    private static let drained = "drained"

    /// The journals of the relay's own store.
    private static let ownSuffixes = ["-wal", "-shm"]

    package let template: StoreTemplate
    /// The name of the relay's file.
    var relay: String { ".\(template.name).relay.sqlite" }
    /// A store with its relay, which contains notices for a consumer.
    private let files: [String: [UInt8]]

    /// Makes the relay with the tool, without a fault.
    package init(template: StoreTemplate) throws {
        self.template = template
        let scratch = try Scratch()
        let folder = try scratch.root.createDirectory("old", mode: 0o700)
        try template.write(into: folder)
        let store = "\(folder.path)/\(template.name)"
        let register = ["relay", "drain", store, "--consumer", Self.consumer]
        let post = ["relay", "post", store, "--everything"]
        for arguments in [register] + Self.places.map({ _ in post }) {
            let ending = try scratch.run(.tool(arguments), killingAfter: .seconds(60))
            guard ending == .exited(0) else {
                throw UnharmedRunFailure(name: "relay", objections: ["it ended with \(ending)"], output: scratch.output)
            }
        }
        let relay = ".\(template.name).relay.sqlite"
        try PlainStore(folder.path + "/" + relay).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let names = try folder.entries().filter { $0.hasPrefix(".\(template.name)") && !$0.hasSuffix("-shm") }
        files = try Dictionary(uniqueKeysWithValues: names.map { ($0, try folder.contents(of: $0, limit: 1_000_000)) })
    }

    package var name: String { "relay drain" }

    package func command(_ scratch: Scratch) -> Command {
        .tool(["relay", "drain", "\(scratch.path)/old/\(template.name)", "--consumer", Self.consumer, "--json"])
    }

    package func prepare(_ scratch: Scratch) throws {
        let folder = try scratch.root.createDirectory("old", mode: 0o700)
        try template.write(into: folder)
        for (name, bytes) in files { try folder.replace(name, with: bytes, mode: 0o600) }
    }

    package func afterFault(_ scratch: Scratch, _ fault: Fault, _ ending: Command.Ending) throws -> [String] {
        let places = try drainedPlaces(scratch)
        return try objectionsToStore(scratch)
            + objections(to: ending, fault, cleanFailures: [1, 11, 12, 14]) {
                places == Self.places ? [] : ["it claims success and has delivered \(places.sorted())"]
            }
    }

    package func afterRerun(_ scratch: Scratch, _ ending: Command.Ending) throws -> [String] {
        let places = try drainedPlaces(scratch)
        let allowed = template.ownNames.union(files.keys).union(Self.ownSuffixes.map { relay + $0 })
        let surplus = try scratch.surplus(in: "old", isAllowed: allowed.contains)
        return try (ending == .exited(0) ? [] : ["it ended with \(ending)"])
            + objectionsToStore(scratch) + scratch.objections(toSurplus: surplus)
            + (places == Self.places ? [] : ["\(places.sorted()) arrived, not \(Self.places.sorted())"])
    }

    /// Objections to the store beside the relay, which the relay must not change.
    private func objectionsToStore(_ scratch: Scratch) throws -> [String] {
        let folder = try scratch.root.openDirectory("old")
        let content = try scratch.withCopy(of: template.name, in: folder) { try $0.content(withoutFence: false) }
        return try (content == template.content ? [] : ["the store differs"])
            + template.externalFilesLost(in: folder).map { "an external file is missing or differs: \($0)" }
    }

    /// The positions of all notices that were printed completely, in this run and earlier ones.
    func drainedPlaces(_ scratch: Scratch) throws -> Set<Int> {
        let folder = try Directory.open(path: scratch.privatePath)
        let earlier = try folder.status(of: Self.drained) == nil ? [] : folder.contents(of: Self.drained, limit: 1000)
        var places = Set(earlier.map(Int.init))
        for line in try scratch.lines() {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                object["type"] as? String == "notice", let place = object["place"] as? Int
            else { continue }
            places.insert(place)
        }
        try folder.replace(Self.drained, with: places.map { UInt8(clamping: $0) }, mode: 0o600)
        return places
    }
}
