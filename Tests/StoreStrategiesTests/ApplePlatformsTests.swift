import BuiltInStrategies
import Foundation
import StoreStrategies
import TestSupport
import Testing

/// Compiles the file that apps on Apple's platforms copy, against a stub of what it uses there, and runs it with the stub.
@Suite("The file for Apple's platforms", .verify)
struct ApplePlatformsTests {
    private static let file = Checkout.path + "/Fixtures/ApplePlatforms/SharedStore.swift"
    private static let stub = Checkout.path + "/Tests/CoreDataStub"
    private static let page =
        Checkout.path + "/Sources/StoreStrategies/StoreStrategies.docc/DescriptionsOnApplePlatforms.md"

    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "store-migrate-\(UUID().uuidString)", directoryHint: .isDirectory)

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Builds the stubs as modules; returns the compiler's options to use them.
    private func stubs() throws -> [String] {
        for module in ["CoreData", "notify"] {
            let built = try ChildProgram.run(
                ["swiftc", "-swift-version", "6", "-emit-module", "-emit-library", "-module-name", module, "-o"]
                    + [folder.path + "/lib\(module).so", "\(Self.stub)/\(module).swift"]
            )
            #expect(built.status == 0, "\(built.output)")
        }
        let path = folder.path
        return ["-I", path, "-L", path, "-lCoreData", "-lnotify", "-Xlinker", "-rpath", "-Xlinker", path]
    }

    @Test("The file and the page's example compile without a warning", arguments: ["5", "6"])
    func compiles(_ version: String) throws {
        defer { remove() }
        let page = try String(contentsOfFile: Self.page, encoding: .utf8)
        let rest = try #require(page.range(of: "```swift apple\n").map { page[$0.upperBound...] })
        let example = rest[..<(try #require(rest.range(of: "```")).lowerBound)]
        let path = folder.path + "/Example.swift"
        try Data(example.utf8).write(to: URL(filePath: path))
        let built = try ChildProgram.run(
            ["swiftc", "-swift-version", version, "-warnings-as-errors", "-typecheck", Self.file, path] + stubs()
        )
        #expect(built.status == 0 && built.output.isEmpty, "\(built.output)")
        #expect(page.contains("**This file was not run on Apple's platforms.**"))
    }

    @Test(
        "Core Data is given every member that it has an option for, and the other roles' notifications refresh the context"
    )
    func runs() throws {
        defer { remove() }
        let pipeline = StrategyPipeline(
            [
                .writeAheadLog, .historyTracking, .readOnlyExtension("clock"), .fileProtection(.completeUnlessOpen),
                .lightweightMigration(infer: false),
            ],
            roles: [.app, .extension("clock"), .extension("widget")]
        )
        let url = URL(filePath: "/machine/group.app/Habits.sqlite")
        var descriptions: [String: PersistentStoreDescription] = [:]
        for role in try pipeline.describe(StoreFacts(), from: PersistentStoreDescription(url: url)) {
            descriptions[role.role.description] = role.description
        }
        descriptions["app"]?.configuration = "Local"
        descriptions["app"]?.timeout = 7
        descriptions["app"]?.shouldAddStoreAsynchronously = true
        let json = folder.path + "/descriptions.json"
        try JSONEncoder().encode(descriptions).write(to: URL(filePath: json))
        let program = folder.path + "/program"
        let built = try ChildProgram.run(
            ["swiftc", "-swift-version", "6", "-o", program, Self.file, Self.stub + "/main.swift"] + stubs()
        )
        #expect(built.status == 0, "\(built.output)")
        let run = try ChildProgram.run([program, json, "app", "extension(clock)"])
        #expect(
            run.output == """
                unknown: no description
                app: /group/Habits.sqlite SQLite Local
                  isReadOnly false timeout 7.0
                  asynchronous true
                  migrates true false
                  pragma journal_mode WAL
                  option NSPersistentHistoryTrackingKey 1
                  option NSPersistentStoreFileProtectionKey NSFileProtectionCompleteUnlessOpen
                  option NSPersistentStoreRemoteChangeNotificationPostOptionKey 1
                extension(clock): /group/Habits.sqlite SQLite default
                  isReadOnly true timeout 240.0
                  asynchronous false
                  migrates true false
                  pragma journal_mode WAL
                  option NSPersistentHistoryTrackingKey 1
                  option NSPersistentStoreFileProtectionKey NSFileProtectionCompleteUnlessOpen
                  option NSPersistentStoreRemoteChangeNotificationPostOptionKey 1
                posted: group.app.Habits.app
                refreshes after own posts: 0
                refreshed with: [0.0] then -1.0
                posts after the end: 0
                refreshes after the end: 0

                """
        )
    }
}
