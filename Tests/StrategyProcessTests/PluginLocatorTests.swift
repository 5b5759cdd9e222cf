import StoreStrategies
import Testing

@testable import StrategyProcess

@Suite("Finding plugins")
struct PluginLocatorTests {
    @Test("The first folder that has one wins, and folders that are not named are not looked at")
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

    @Test("A name leads nowhere else", arguments: ["../Good", "a/b", "", ".", "Good\u{0}", "Good Bad"])
    func names(_ name: String) throws {
        let folder = try PluginFolder()
        try folder.plugin("Good")
        #expect(try folder.locate(name) == nil)
    }

    @Test("What others may change, and what cannot be run, is refused")
    func trust() throws {
        let folder = try PluginFolder()
        try folder.plugin("Open", "", mode: 0o757)
        try folder.plugin("Plain", "", mode: 0o644)
        for (name, reason) in [("Open", "everybody may change it"), ("Plain", "it is not executable")] {
            let error = #expect(throws: StrategyError.self) { try folder.locate(name) }
            #expect(error?.message.contains(reason) == true)
        }
        let parent = PluginLocator(folders: [])
        #expect(try parent.plugin(named: "Open") == nil)
    }
}
