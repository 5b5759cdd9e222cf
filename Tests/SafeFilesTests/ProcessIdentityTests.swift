import Glibc
import SafeFiles
import TestSupport
import Testing

@Suite("The user a process works as")
struct ProcessIdentityTests {
    @Test("An ordinary user stays who it is, whoever owns the file")
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

    @Test("Root becomes the owner of a file for good, with no group of root's", .enabled(if: geteuid() == 0))
    func root() async {
        // In a process of its own, for there is no way back.
        await #expect(processExitsWith: .success) {
            try becomeOwner(user: 65534, group: 65534)
        }
        await #expect(processExitsWith: .success) {
            try becomeOwner(user: 61_234, group: 61_235)
        }
    }

    @Test("A file of root's leaves root as it is", .enabled(if: geteuid() == 0))
    func rootsFile() throws {
        try ProcessIdentity.becomeOwner(of: Directory.open(path: "/").status())
        #expect(ProcessIdentity.effectiveUser == 0)
    }
}

/// Becomes a user by way of a folder of that user's, and expects nothing of root to be left.
private func becomeOwner(user: UInt32, group: UInt32) throws {
    let temporary = try TemporaryDirectory(prefix: "process-identity-tests")
    try temporary.directory.setOwner(user: user, group: group)
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
