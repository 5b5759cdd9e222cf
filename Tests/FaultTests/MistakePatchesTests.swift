import FaultSupport
import Foundation
import SafeFiles
import TestSupport
import Testing

@Suite("The patches with known mistakes")
struct MistakePatchesTests {
    @Test(
        "Every patch of Mistakes/walks applies, and names its row, a known history and walks",
        arguments: names("walks")
    )
    func walkPatches(name: String) throws {
        let text = try text("walks", name)
        let history = try #require(text.firstMatch(of: /\nHistory: ([^\n]+)\n/)?.1)
        #expect(text.contains(/^Row: [0-9]/) && text.contains(/\nWalks: --walks [0-9]/))
        #expect(KnownHistory.all.contains { $0.name.hasPrefix(history) })
        try requireApplies(text)
    }

    @Test(
        "Every patch of Mistakes/protocol applies, enables its mistake by its own name, and names a witness",
        arguments: names("protocol").filter { $0 != "0-switch.patch" }
    )
    func protocolPatches(name: String) throws {
        let text = try text("protocol", name)
        #expect(text.contains(/^Witness: (proof [a-z-]+|suite [A-Z])/))
        let switches = Set(text.matches(of: /\n\+[^\n]*isSeeded\("([^"]*)"\)/).map(\.1))
        #expect(switches == [name.dropLast(".patch".count)])
        try requireApplies(text)
    }

    @Test("All patches of Mistakes/protocol apply together, so that one build contains them")
    func allTogether() throws {
        let names = Self.names("protocol").sorted()
        #expect(names.count > 30)
        try requireApplies(names.map { try text("protocol", $0) }.joined())
    }

    @Test("No product code contains a switch for a mistake")
    func noSwitches() throws {
        let (status, output) = try ChildProgram.run([
            "grep", "-rnE", "--include=*.swift", "isSeeded|SeededBug|SeededMistake|SEEDED_", Checkout.path + "/Sources",
        ])
        #expect(status == 1, "\(output)")
    }

    private func text(_ folder: String, _ name: String) throws -> String {
        try String(contentsOfFile: Self.folder(folder) + name, encoding: .utf8)
    }

    private func requireApplies(_ patch: String) throws {
        let place = try TemporaryDirectory(prefix: "mistake-patches")
        let file = place.directory.path + "/patch"
        try patch.write(toFile: file, atomically: false, encoding: .utf8)
        let (status, output) = try ChildProgram.run(["git", "-C", Checkout.path, "apply", "-C1", "--check", file])
        #expect(status == 0, "\(output)")
    }

    private static func folder(_ name: String) -> String { Checkout.path + "/Tests/Mistakes/" + name + "/" }

    private static func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: Self.folder(folder)))?.filter { $0.hasSuffix(".patch") }
            ?? []
    }
}
