import Glibc
import SafeFiles
import SystemPackage
import TestSupport
import Testing

@testable import StoreAccess

@Suite("MainFile")
struct MainFileTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("A FIFO that replaces a vetted store is reported without waiting", .timeLimit(.minutes(1)))
    func swapped() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a)", as: "a.sqlite")
        let vetted = try VettedFile(location)
        try scratch.directory.move("a.sqlite", to: "b.sqlite", in: scratch.directory)
        try FilePath(location.path).makeFIFO()
        #expect {
            try MainFile(vetted, path: location.path)
        } throws: { ($0 as? StoreError)?.code == .changedMeanwhile }
    }

    @Test("Opening a leased file waits until the lease is released", .timeLimit(.minutes(1)))
    func leased() throws {
        let location = try scratch.makeStore("CREATE TABLE t(a)", as: "a.sqlite")
        let deadline = Deadline(after: .seconds(30))
        let lease = try #require(
            try FileLease.acquire(on: "a.sqlite", in: scratch.directory, deadline: deadline)
        )
        let opener = SeparateThread { try MainFile(VettedFile(location), path: location.path).size() }
        let watch = try FileWatch(on: scratch.directory)
        while lease.isIntact(), !deadline.hasPassed { _ = watch.wait(until: Deadline(after: .milliseconds(1))) }
        lease.release()
        #expect(try opener.value() > 0)
    }
}
