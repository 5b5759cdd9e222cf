import FaultSupport
import Foundation
import SafeFiles
import Testing

@Suite("The judge of drained notices")
struct RelayDrainJudgeTests {
    static let places: [SpoiltPlace] = [
        printed("a notice did not come", "[1, 3]") { $0.filter { !$0.contains("\"place\":2") } },
        printed("nothing came", "[]") { _ in [] },
        printed("half a notice came", "[1, 2]") { lines in
            lines.map { $0.contains("\"place\":3") ? String($0.prefix($0.count / 2)) : $0 }
        },
        printed("what came is no notice", "[]") { lines in
            lines.map { $0.replacing("\"notice\"", with: "\"note\"") }
        },
        printed("a notice arrived that was never posted", "[1, 2, 3, 4]") { lines in
            lines + lines.filter { $0.contains("\"place\":3") }.map { $0.replacing("\"place\":3", with: "\"place\":4") }
        },
        .store("old/Habits.sqlite", "the store has lost an object", "the store differs", "DELETE FROM ZHABIT"),
        .removed("old/.Habits_SUPPORT/*", "an external file of the store is gone", "an external file is missing"),
        .left("old/.Habits.sqlite.relay.sqlite-journal", "a journal was left"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    /// The runs' output, changed.
    private static func printed(
        _ testDescription: String,
        _ came: String,
        _ change: @escaping @Sendable ([String]) -> [String]
    ) -> SpoiltPlace {
        SpoiltPlace(testDescription, came) { scratch in
            let folder = try Directory.open(path: scratch.privatePath)
            let lines = try change(scratch.lines())
            try folder.replace("output", with: Array(lines.joined(separator: "\n").utf8), mode: 0o600)
            // The output of earlier runs is discarded.
            try folder.removeFile("drained")
        }
    }

    private static func judge() throws -> RelayDrainJudge {
        try RelayDrainJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
    }

    @Test("The judge has no objection to notices that were drained correctly")
    func right() throws { try SpoiltPlace.expectContent(Self.judge()) }

    @Test("The judge objects to every fault of draining", arguments: places)
    func wrong(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge()) }
}
