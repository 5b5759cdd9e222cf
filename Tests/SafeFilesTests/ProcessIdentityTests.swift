import FoundationEssentials
import Glibc
import SafeFiles
import TestSupport
import Testing

@Suite("ProcessIdentity")
struct ProcessIdentityTests {
    /// The environment variable with an owner, a group of a file, and the group to become, separated by colons.
    private static let variable = "STORE_MIGRATE_TESTS_BECOME"
    private static let owner = (ProcessInfo.processInfo.environment[variable] ?? "").split(separator: ":")
        .compactMap { UInt32($0) }

    @Test("An ordinary user stays the same, regardless of the file's owner")
    func ordinaryUser() throws {
        let (before, after) = try SeparateThread(asOrdinaryUser: true) {
            let before = ProcessIdentity.effectiveUser
            try ProcessIdentity.becomeOwner(of: Directory.open(path: "/").status())
            return (before, ProcessIdentity.effectiveUser)
        }
        .value()
        #expect(before != 0)
        #expect(after == before)
    }

    @Test(
        "Root becomes the owner of a file for good, and drops root's groups",
        .enabled(if: geteuid() == 0),
        arguments: ["65534:65534:65534", "65534:61235:65534", "61234:61235:61235"]
    )
    func root(owner: String) throws {
        // Runs in a child process, because root is dropped for good. An exit test would wait for any child, and forever
        // if an orphan of a plugin is a zombie.
        let (status, output) = try ChildProgram.run(
            ["/proc/self/exe", "--testing-library", "swift-testing", "--filter", "ProcessIdentityTests/becomesOwner"],
            environment: [Self.variable: owner]
        )
        #expect(status == 0 && output.contains("with 1 test in 1 suite passed"), "\(output)")
    }

    @Test(
        "A process becomes the given user",
        .enabled(if: ProcessIdentityTests.owner.count == 3)
    )
    func becomesOwner() throws {
        // A user in the database gets the group that is listed there.
        let (user, group) = try (#require(Self.owner.first), #require(Self.owner.last))
        let temporary = try TemporaryDirectory(prefix: "process-identity-tests")
        try temporary.directory.setOwner(user: user, group: Self.owner[1])
        try ProcessIdentity.becomeOwner(of: temporary.directory.status())
        #expect(getuid() == user)
        #expect(geteuid() == user)
        #expect(getgid() == group)
        #expect(getegid() == group)
        var groups = [gid_t](repeating: 0, count: 100)
        let count = getgroups(100, &groups)
        #expect(count >= 0)
        #expect(!groups.prefix(Int(max(count, 0))).contains(0))
        #expect(setuid(0) == -1)
        #expect(setgid(0) == -1)
        _ = try temporary.directory.createFile("file", mode: 0o600)
    }

    @Test("For a file of root, root stays root", .enabled(if: geteuid() == 0))
    func rootsFile() throws {
        try ProcessIdentity.becomeOwner(of: Directory.open(path: "/").status())
        #expect(ProcessIdentity.effectiveUser == 0)
    }
}
