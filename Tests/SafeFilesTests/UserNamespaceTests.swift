import SafeFiles
import Testing

@Suite("UserNamespace")
struct UserNamespaceTests {
    @Test(
        "Only a namespace without all users hides some, as the overflow user",
        arguments: [
            ("         0          0 4294967295\n", false), ("", false),
            ("         0       1000          1\n", true), ("      1000       1000          1\n", true),
            ("         0       1000          1\n         1     100000      65536\n", true),
        ]
    )
    func hides(_ map: String, _ isHidden: Bool) {
        let namespace = UserNamespace(map: map, overflowUser: "65533\n")
        #expect(namespace.hides(65_533) == isHidden)
        #expect(!namespace.hides(0))
        #expect(!namespace.hides(65_534))
    }

    @Test("An unmapped group is hidden, and every group is visible if the map is unknown")
    func groups() {
        let one = UserNamespace(map: "", groupMap: "         0       1000          1\n", overflowUser: "")
        #expect(one.shows(group: 0) && !one.shows(group: 1))
        let two = UserNamespace(map: "", groupMap: "0 1000 1\n1 100000 65536\n", overflowUser: "")
        #expect(two.shows(group: 65_536) && !two.shows(group: 65_537))
        #expect(UserNamespace(map: "", overflowUser: "").shows(group: 5))
    }

    @Test("Without a known overflow user no user is hidden")
    func unknown() {
        #expect(!UserNamespace(map: "0 1000 1\n", overflowUser: "").hides(65_534))
    }
}
