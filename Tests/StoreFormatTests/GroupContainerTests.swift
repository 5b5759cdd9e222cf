import FoundationEssentials
import SafeFiles
import StoreAccess
import TestSupport
import Testing

@testable import StoreFormat

@Suite("GroupContainer")
struct GroupContainerTests {
    @Test("The first configured parent folder is used")
    func places() throws {
        let scratch = try ScratchFolder()
        for folder in ["given", "groups", "data", "home"] {
            _ = try scratch.directory.createDirectory(folder, mode: 0o755)
        }
        var environment = [
            "STORE_MIGRATE_GROUPS": scratch.path + "/groups", "XDG_DATA_HOME": scratch.path + "/data",
            "HOME": scratch.path + "/home",
        ]
        func path(_ root: String? = nil) -> String {
            do {
                return try GroupContainer("group.app", root: root) { environment[$0] }.url.path
            } catch {
                return (error as? StoreError)?.path ?? "\(error)"
            }
        }
        #expect(path(scratch.path + "/given") == scratch.path + "/given/group.app")
        #expect(path() == scratch.path + "/groups/group.app")
        environment["STORE_MIGRATE_GROUPS"] = ""
        #expect(path() == scratch.path + "/data/group-containers/group.app")
        environment["XDG_DATA_HOME"] = "relative"
        #expect(path() == scratch.path + "/home/.local/share/group-containers/group.app")
    }

    @Test("The usual private location of a store follows the layout of each platform")
    func applicationSupport() throws {
        let container = URL(filePath: "/phone/Data/Application/1", directoryHint: .isDirectory)
        #expect(
            StoreLocation.applicationSupport(databaseName: "Habits", inContainer: container).path
                == "/phone/Data/Application/1/Library/Application Support/Habits.sqlite"
        )
        var environment = ["XDG_DATA_HOME": "/data", "HOME": "/home/me"]
        #expect(try StoreLocation.userData { environment[$0] } == "/data")
        environment["XDG_DATA_HOME"] = "relative"
        #expect(try StoreLocation.userData { environment[$0] } == "/home/me/.local/share")
        #expect(throws: StoreError.self) { try StoreLocation.userData { _ in nil } }
        let location = try StoreLocation.applicationSupport(databaseName: "Habits", app: "org.app")
        #expect(location.path.hasSuffix("/org.app/Habits.sqlite"))
    }

    @Test("A missing container is an error with the command that creates it, and is not created")
    func absent() throws {
        let scratch = try ScratchFolder()
        #expect {
            try GroupContainer("group.app", root: URL(filePath: scratch.path))
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .notFound && error?.message.contains("mkdir -p \(scratch.path)/group.app") == true
        }
        #expect(try scratch.directory.entries() == [])
    }

    @Test("The command that creates a container quotes its path, even a quote with a combining mark")
    func quoted() throws {
        let scratch = try ScratchFolder()
        let root = try scratch.directory.createDirectory("it'\u{301}s", mode: 0o755)
        #expect {
            try GroupContainer("group.app", root: URL(filePath: root.path))
        } throws: { error in
            let message = (error as? StoreError)?.message.unicodeScalars.map(String.init).joined(separator: "|") ?? ""
            return message.contains("i|t|'|\\|'|'|\u{301}|s|/|g|r|o|u|p|.|a|p|p|'")
        }
    }

    @Test("An existing container gives the URL of a store")
    func present() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.directory.createDirectory("group.app", mode: 0o755)
        let container = try GroupContainer("group.app", root: URL(filePath: scratch.path))
        let location = StoreLocation(url: container.storeURL(databaseName: "My Habits"))
        #expect(location == StoreLocation(folder: scratch.path + "/group.app", name: "My Habits.sqlite"))
        #expect(StoreLocation(url: location.url) == location)
    }

    @Test("A file in place of a container is an error")
    func file() throws {
        let scratch = try ScratchFolder()
        try scratch.write("group.app", [])
        #expect {
            try GroupContainer("group.app", root: URL(filePath: scratch.path))
        } throws: { ($0 as? StoreError)?.code == .unreadable }
    }

    @Test("An invalid identifier is refused", arguments: ["", ".", "..", ".hidden", "a/b", "a b", "ä", "a_b", "a\0"])
    func identifiers(_ identifier: String) {
        #expect {
            try GroupContainer(identifier, root: URL(filePath: "/"))
        } throws: { ($0 as? StoreError)?.code == .failed }
    }
}
