import FaultSupport
import Testing

@Suite("A retirement with a fault at every file call", .serialized)
struct RetireFaultTests {
    @Test(
        "The old store is whole under one name or in an archive, and running it again ends it",
        arguments: ["wal", "delete"],
        [false, true]
    )
    func retire(_ journalMode: String, namesFolder: Bool) throws {
        let template = try HabitTemplate.makeCoreData(journalMode: journalMode)
        let judge = RetireJudge(template: template, namesFolder: namesFolder)
        // The same steps in another folder; what differs is only where the archive goes.
        try FaultSweep(judge)
            .expectSound(limit: namesFolder ? 12 : 16, calls: [.create, .write, .synchronize, .rename, .look])
    }
}
