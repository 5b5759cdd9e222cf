import FaultSupport
import SafeFiles
import Testing

@Suite("The judge of the first notice")
struct RelayPostJudgeTests {
    static let places: [SpoiltPlace] = [
        .store("old/.Habits.sqlite.relay.sqlite", "the notice is gone", "0 notices are there", "DELETE FROM notice"),
        .store(
            "old/.Habits.sqlite.relay.sqlite",
            "notices arrived that were never posted",
            "4 notices are there",
            "INSERT INTO notice (writer, number, posted, content) SELECT 'other', value, 0, x'00' "
                + "FROM json_each('[1,2,3]')"
        ),
        .removed("old/.Habits.sqlite.wake", "the wake file is gone", ".Habits.sqlite.wake is missing"),
        mode(of: ".Habits.sqlite.relay.sqlite", 0o600, "others may not read the relay"),
        mode(of: ".Habits.sqlite.wake", 0o644, "others may not use the wake file"),
        .store("old/Habits.sqlite", "the store has lost an object", "the store differs", "DELETE FROM ZHABIT"),
        .removed("old/.Habits_SUPPORT/*", "an external file of the store is gone", "an external file is missing"),
        .left("old/.store-migrate-new-0", "the folder in which a file was made was left"),
        .left("tmp/copy", "a temporary file was left"),
    ]

    private static func mode(of name: String, _ mode: UInt32, _ testDescription: String) -> SpoiltPlace {
        SpoiltPlace(testDescription, "\(name) has other rights than the store") { scratch in
            try scratch.root.openDirectory("old").openFile(name, for: .writing).setMode(mode)
        }
    }

    private static func judge() throws -> RelayPostJudge {
        try RelayPostJudge(template: HabitTemplate.makeCoreData(journalMode: "wal"))
    }

    @Test("The judge has no objection to a notice that was posted correctly")
    func right() throws { try SpoiltPlace.expectContent(Self.judge()) }

    @Test("The judge objects to every fault of posting", arguments: places)
    func wrong(_ place: SpoiltPlace) throws { try place.expectObjection(of: Self.judge()) }
}
