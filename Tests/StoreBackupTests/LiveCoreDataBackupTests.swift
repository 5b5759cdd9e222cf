import SafeFiles
import StoreAccess
import StoreFixtures
import StoreVerification
import TestSupport
import Testing

@testable import StoreBackup

@Suite("Backups under apps that save", .verify, .serialized)
struct LiveCoreDataBackupTests {
    private static let apps: Int64 = 6
    private static let saves: Int64 = 120
    private static let recipe = """
        about: What apps save while a backup is made.
        seed: live
        model:
          entities:
            TestDummy:
              attributes: {id: integer64, name: string}
              indexes:
                byID: [id]
        saves:
          - at: 2026-01-02
            insert:
              - {entity: TestDummy, values: {id: 1, name: first}}
        """

    @Test(
        "A backup passes every Core Data rule and contains every app's saves up to one of them",
        arguments: [["history"], ["history", "rollback"]]
    )
    func sound(roles: [String]) throws {
        let world = try BackupWorld()
        let store = world.stores.location("Store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: Self.recipe), at: store)
        let apps = try (1...Self.apps)
            .map { _ in
                try StoreWriterProcess(program: "relay-peer", ["container", store.path] + roles)
            }
        for (number, app) in apps.enumerated() {
            for save in 1...Self.saves { try app.say("insert \(Int64(number + 1) * 10_000 + save) saved") }
        }
        // Every app has started, with most of its saves still to come.
        for app in apps { #expect(app.nextLine() == "ok") }

        let archive = try world.make(store.name)

        var acknowledged: [Int64] = []
        for app in apps {
            var count: Int64 = 1
            while count < Self.saves, app.nextLine() == "ok" { count += 1 }
            acknowledged.append(count)
            #expect(app.waitForExit() == 0)
        }
        #expect(acknowledged.allSatisfy { $0 == Self.saves }, "\(acknowledged)")
        let unpacked = try BackupArchive(at: archive.url).unpacked()
        let report = try StoreVerifier().verify(unpacked.location, level: .coredata, against: nil)
        #expect(report.passed && report.findings.isEmpty, "\(report.findings)")
        let connection = try StoreConnection(unpacked.location, access: .immutable)
        for number in 1...Self.apps {
            var found: [Int64] = []
            let range = "ZID > \(number * 10_000) AND ZID <= \(number * 10_000 + Self.saves)"
            try connection.forEachRow("SELECT ZID FROM ZTESTDUMMY WHERE \(range) ORDER BY ZID") {
                found.append($0.integer(0) - number * 10_000)
            }
            #expect(!found.isEmpty && found == (1...Int64(found.count)).map { $0 }, "no state that existed")
        }
        try connection.close()
    }
}
