import StoreAccess
import StoreFormat
import Testing

@Suite("Object URIs")
struct ObjectURITests {
    @Test(
        "Object URIs are encoded and parsed back",
        arguments: [
            ("Habit", "x-coredata://E8AFD1EB-0000-4000-8000-000000000001/Habit/p1"),
            ("Größe", "x-coredata://E8AFD1EB-0000-4000-8000-000000000001/Gr%C3%B6%C3%9Fe/p1"),
        ]
    )
    func roundTrip(entity: String, text: String) throws {
        let uri = ObjectURI(storeUUID: "E8AFD1EB-0000-4000-8000-000000000001", entity: entity, primaryKey: 1)
        #expect(uri.description == text)
        #expect(try ObjectURI(text) == uri)
    }

    @Test(
        "Temporary object URIs are rejected with the reason",
        arguments: ["x-coredata:///Habit/t0A1B", "x-coredata://E8AF/Habit/t0A1B"]
    )
    func temporary(text: String) throws {
        let error = #expect(throws: StoreError.self) { try ObjectURI(text) }
        #expect(try #require(error).message.contains("temporary"))
    }

    @Test(
        "Malformed object URIs are rejected",
        arguments: [
            "", "x-coredata://", "http://A/Habit/p1", "x-coredata://A/Habit", "x-coredata://A/Habit/p1/p2",
            "x-coredata://A/Habit/1", "x-coredata://A/Habit/p", "x-coredata://A/Habit/p0", "x-coredata://A/Habit/p-1",
            "x-coredata://A/Habit/p+1", "x-coredata://A//p1", "x-coredata://A/%zz/p1", "x-coredata://A/%f/p1",
            "x-coredata://A/%ff/p1", "x-coredata://A/Habit/p99999999999999999999", "x-coredata://A/%+f/p1",
        ]
    )
    func malformed(text: String) {
        #expect(throws: StoreError.self) { try ObjectURI(text) }
    }
}
