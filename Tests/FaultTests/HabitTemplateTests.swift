import FaultSupport
import Testing

@Suite("The stores for fault tests")
struct HabitTemplateTests {
    @Test(
        "The template's rows are in the log only in WAL mode, and rollback mode has no log",
        arguments: ["wal", "delete"]
    )
    func journals(_ journalMode: String) throws {
        let plain = try HabitTemplate.make(journalMode: journalMode)
        let coreData = try HabitTemplate.makeCoreData(journalMode: journalMode)
        for template in [plain, coreData] {
            let log = template.files["\(template.name)-wal"]
            #expect((log?.count ?? 0 > 4096) == (journalMode == "wal"))
            #expect(template.content.rows.values.contains { !$0.isEmpty })
        }
        #expect(coreData.files.keys.contains { $0.hasPrefix(".Habits_SUPPORT/_EXTERNAL_DATA/") })
        #expect(coreData.fencedTables.contains("ZHABIT"))
        #expect(!coreData.fencedTables.contains("Z_METADATA"))
        #expect(plain.fencedTables.sorted() == ["entry", "habit"])
    }
}
