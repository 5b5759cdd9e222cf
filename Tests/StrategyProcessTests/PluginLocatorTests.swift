import FoundationEssentials
import Glibc
import StoreStrategies
import Testing

@testable import StrategyProcess

@Suite("Finding plugins")
struct PluginLocatorTests {
    @Test("A plugin comes from the first named folder that has it, and from no other folder")
    func order() throws {
        let (first, second) = (try PluginFolder(), try PluginFolder())
        try second.plugin("Good")
        let locator = PluginLocator(folders: [first.path, "/no/such/folder", second.path])
        #expect(try locator.plugin(named: "Good")?.path == second.path + "/store-migrate-strategy-Good")
        try first.plugin("Good")
        #expect(try locator.plugin(named: "Good")?.path == first.path + "/store-migrate-strategy-Good")
        #expect(try PluginLocator(folders: []).plugin(named: "Good") == nil)
        #expect(try locator.plugin(named: "Better") == nil)
    }

    @Test(
        "A name that is not a valid strategy name finds no plugin",
        arguments: ["../Good", "a/b", "", ".", "Good\u{0}", "Good Bad"]
    )
    func names(_ name: String) throws {
        let folder = try PluginFolder()
        try folder.plugin("Good")
        #expect(try folder.locate(name) == nil)
    }

    struct Distrust: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let reason: String
        var mode: UInt32 = 0o755
        var folderMode: UInt32 = 0o755
        var parentMode: UInt32 = 0o755
        var dataMode: UInt32?
    }

    @Test(
        "A plugin that other users can change or replace, or that cannot be run, is refused",
        arguments: [
            Distrust(testDescription: "everybody writes", reason: "everybody may change it", mode: 0o757),
            Distrust(testDescription: "the group writes", reason: "its group may change it", mode: 0o775),
            Distrust(testDescription: "not executable", reason: "it is not executable", mode: 0o644),
            Distrust(testDescription: "setuid", reason: "another user or group (setuid)", mode: 0o4755),
            Distrust(testDescription: "setgid", reason: "another user or group (setuid)", mode: 0o2755),
            Distrust(
                testDescription: "everybody's folder",
                reason: "everybody may change its folder",
                folderMode: 0o777
            ),
            Distrust(testDescription: "a group's folder", reason: "its group may change its folder", folderMode: 0o775),
            Distrust(testDescription: "a folder above", reason: "everybody may change its folder", parentMode: 0o777),
            Distrust(testDescription: "a group's data", reason: "its group may change its folder", dataMode: 0o775),
            Distrust(testDescription: "sticky data", reason: "everybody may change its folder", dataMode: 0o1777),
        ]
    )
    func trust(_ row: Distrust) throws {
        let folder = try PluginFolder()
        let place = try folder.makeFolder("above/plugins", mode: 0o755)
        let file = "above/plugins/" + PluginFile.prefix + "Odd"
        try folder.write(file, "#!/bin/sh\n", mode: 0o755)
        let locator = PluginLocator(folders: [place])
        #expect(try locator.plugin(named: "Odd")?.dataFolder == nil)
        if let mode = row.dataMode { try folder.makeFolder(file + ".d", mode: mode) }
        try set(row.mode, folder.path + "/" + file)
        try set(row.folderMode, place)
        try set(row.parentMode, folder.path + "/above")
        let error = #expect(throws: StrategyError.self) { try locator.plugin(named: "Odd") }
        #expect(error?.message.contains(row.reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("\n") == false)
    }

    @Test("A sticky parent folder may be writable for everybody")
    func sticky() throws {
        let folder = try PluginFolder()
        let place = try folder.makeFolder("plugins", mode: 0o1777)
        try folder.write("plugins/" + PluginFile.prefix + "Good", "#!/bin/sh\n")
        #expect(try PluginLocator(folders: [place]).plugin(named: "Good") != nil)
    }

    @Test("A program of another user, or in a folder of another user, is refused", .enabled(if: geteuid() == 0))
    func strangers() throws {
        let folder = try PluginFolder()
        let place = try folder.makeFolder("plugins", mode: 0o755)
        let file = try folder.write("plugins/" + PluginFile.prefix + "Good", "#!/bin/sh\n")
        let locator = PluginLocator(folders: [place])
        for (path, reason) in [(file, "it belongs to another user"), (place, "its folder belongs to another user")] {
            #expect(chown(path, 65_534, 65_534) == 0)
            let error = #expect(throws: StrategyError.self) { try locator.plugin(named: "Good") }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            #expect(chown(path, 0, 0) == 0)
        }
        #expect(try locator.plugin(named: "Good") != nil)
    }

    @Test("A link or folder as the program, or a link as the data folder, is refused")
    func kinds() throws {
        let folder = try PluginFolder()
        try folder.plugin("Good", "")
        let good = folder.path + "/" + PluginFile.prefix + "Good"
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/" + PluginFile.prefix + "Link",
            withDestinationPath: good
        )
        try folder.makeFolder(PluginFile.prefix + "Folder", mode: 0o755)
        try FileManager.default.createSymbolicLink(atPath: good + ".d", withDestinationPath: "/")
        for (name, reason) in [
            ("Link", "it is not a regular file"), ("Folder", "it is not a regular file"),
            ("Good", "its data folder is not a folder"),
        ] {
            let error = #expect(throws: StrategyError.self) { try folder.locate(name) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }

    @Test("A plugin whose file changed between two questions is not run again")
    func between() throws {
        let folder = try PluginFolder()
        try folder.plugin("Good")
        let strategy = try folder.strategy("Good")
        try set(0o777, folder.path + "/" + PluginFile.prefix + "Good")
        let error = #expect(throws: StrategyError.self) { try strategy.evaluate(.sample) }
        #expect(error?.message.contains("everybody may change it") == true, "\(error?.message ?? "")")
    }

    private func set(_ mode: UInt32, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: Int(mode)], ofItemAtPath: path)
    }

    @Test(
        "A plugin of root's below a private folder is refused with the folder that the user nobody may not enter",
        .enabled(if: geteuid() == 0 && PluginSandbox.isKernelAble)
    )
    func privateHome() throws {
        let folder = try PluginFolder()
        let home = try folder.makeFolder("home", mode: 0o700)
        let place = try folder.makeFolder("home/plugins", mode: 0o755)
        try folder.write("home/plugins/" + PluginFile.prefix + "Good", "#!/bin/sh\n")
        let plugin = try #require(try PluginLocator(folders: [place]).plugin(named: "Good"))
        let error = #expect(throws: StrategyError.self) { try ProcessStrategy(plugin) }
        let reason = "cannot be started: root runs it as the user nobody, who may not enter or execute \(home)"
        #expect(error?.message.hasSuffix(reason) == true, "\(error?.message ?? "")")
        #expect(error?.recoverySuggestion.contains("every user may enter") == true)
    }
}
