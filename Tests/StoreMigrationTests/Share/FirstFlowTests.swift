import FoundationEssentials
import ManagedObjects
import SafeFiles
import StoreAccess
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

/// A store is shared, and an app and its extension use it in separate processes (FLOWS F1).
@Suite("An app shares its store with an extension")
struct FirstFlowTests {
    @Test(
        "The extension changes an object of the shared store, and the app sees the change",
        arguments: [false, true]
    )
    func shareAndUse(tracksHistory: Bool) throws {
        let places = try Places()
        try places.makeDummies(at: places.oldStore, tracksHistory: tracksHistory)
        let roles = (tracksHistory ? ["history"] : []) + ["posts"]
        func peer(_ location: StoreLocation) throws -> StoreWriterProcess {
            try StoreWriterProcess(program: "relay-peer", ["container", location.path] + roles)
        }
        // An app version without the extension, terminated for an update.
        do {
            let former = try peer(places.oldStore)
            #expect(try former.execute("update 3 old") == "ok")
            #expect(former.waitForExit() == 0)
        }
        #expect(try places.share().outcome == .shared)
        #expect(try places.share().outcome == .alreadyShared)

        let (app, widget) = (try peer(places.newStore), try peer(places.newStore))
        #expect(try app.execute("fetch") == "1=dummy1 2=dummy2 3=old")
        #expect(try app.execute("follow app") == "ok")
        #expect(try widget.execute("fetch") == "1=dummy1 2=dummy2 3=old")
        #expect(try widget.execute("update 1 seen") == "ok")
        #expect(try app.execute("until 1=seen 2=dummy2 3=old") == "ok")
        // An unknown object ID is a normal answer.
        #expect(try widget.execute("update 99 never") == "gone")
        // Writes to the old store are refused.
        #expect(try peer(places.oldStore).execute("update 1 late").hasPrefix("error"))
    }
}
