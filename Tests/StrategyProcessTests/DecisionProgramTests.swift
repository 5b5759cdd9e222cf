import FoundationEssentials
import Glibc
import StoreStrategies
import Synchronization
import TestSupport
import Testing

@testable import StrategyProcess

@Suite(
    "Programs that confirm",
    .verify,
    .serialized,
    .enabled(if: PluginSandbox.isKernelAble, "needs Landlock")
)
struct DecisionProgramTests {
    private let folder: PluginFolder
    /// A number of seconds that no other process on this machine sleeps.
    private let nap = "\(UInt32.random(in: 100_000_000...999_999_999))"

    init() throws { folder = try PluginFolder() }

    private func write(_ script: String, mode: UInt32 = 0o755) throws -> String {
        try folder.write("confirm", "#!/bin/sh\n" + script + "\n", mode: mode)
    }

    /// The answer, or the error's message.
    private func answer(
        _ path: String,
        _ input: String = #"{"type":"plan"}"# + "\n",
        within seconds: Int = 60,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) -> String {
        do {
            var sandbox = PluginSandbox()
            sandbox.limits.deadline = .seconds(seconds)
            let program = try DecisionProgram(at: path, sandbox: sandbox, isCancelled: isCancelled)
            return try program.acceptsAndWait(Array(input.utf8)) ? "yes" : "no"
        } catch {
            return error.code == .cancelled ? "cancelled" : error.message
        }
    }

    private func leftovers() throws -> [String] { try RunningProcesses.mentioning([folder.path, nap]) }

    @Test(
        "Status 0 accepts, 1 declines, and every other end is an error",
        arguments: [
            ("cat >/dev/null", "yes"), ("exit 0", "yes"), ("grep -q plan", "yes"), ("grep -q secret", "no"),
            ("exit 1", "no"),
            ("echo because >&2; exit 2", "ended with status 2, not 0 or 1, and wrote: because"),
            (#"exec perl -e 'print unpack("p", pack("L!", 1))'"#, "ended with signal 11, not 0 or 1"),
            ("exit 127", "ended with status 127"), ("echo yes; exit 0", "yes"),
        ]
    )
    func statuses(_ script: String, _ expected: String) throws {
        let found = try answer(write(script))
        #expect(expected.count > 3 ? found.contains(expected) : found == expected, "\(found)")
        #expect(try leftovers().isEmpty)
    }

    @Test("A program gets all of a plan of a megabyte, and may end without reading it")
    func largePlan() throws {
        let plan = String(repeating: "x", count: 1 << 20) + "end\n"
        #expect(try answer(write("[ $(wc -c) = \(plan.utf8.count) ]"), plan) == "yes")
        #expect(try answer(write("exit 1"), plan) == "no")
    }

    @Test("A program that does not end is ended at its deadline, with what it started")
    func hanging() throws {
        let found = try answer(write("sleep \(nap) & sleep \(nap)"), within: 1)
        #expect(found.contains("it did not answer within 1.0 seconds"), "\(found)")
        #expect(try leftovers().isEmpty)
    }

    @Test("A program that ignores signals and closes its streams is ended at its deadline")
    func deaf() throws {
        let found = try answer(write("trap '' TERM INT HUP; exec >/dev/null 2>&1; sleep \(nap)"), within: 1)
        #expect(found.contains("it did not answer within 1.0 seconds"), "\(found)")
        #expect(try leftovers().isEmpty)
    }

    @Test("A program that floods its output is ended", arguments: ["yes", "yes >&2"])
    func flooding(_ script: String) throws {
        let found = try answer(write(script))
        #expect(found.contains("it sent more than 1048576 bytes"), "\(found)")
        #expect(found.count < 600)
        #expect(try leftovers().isEmpty)
    }

    @Test("Processes that a program leaves behind are ended, and its answer counts", arguments: ["0", "1"])
    func leftBehind(_ status: String) throws {
        #expect(try answer(write("sleep \(nap) & sleep \(nap) & exit \(status)")) == (status == "0" ? "yes" : "no"))
        #expect(try leftovers().isEmpty)
    }

    @Test("A fork bomb is ended")
    func forks() throws {
        let found = try answer(write("f() { f | f & f; }; f; sleep \(nap)"), within: 2)
        #expect(!["yes", "no"].contains(found), "\(found)")
        #expect(try leftovers().isEmpty)
    }

    @Test("A request to stop ends the program")
    func cancelled() throws {
        #expect(try answer(write("sleep \(nap)"), isCancelled: { true }) == "cancelled")
        #expect(try leftovers().isEmpty)
    }

    @Test("A missing, unsafe or unusable program is refused before anything runs")
    func refused() throws {
        #expect(answer(folder.path + "/none") == "there is no program \(folder.path)/none")
        #expect(answer(folder.path + "/none/none").contains("there is no program"))
        #expect(answer("/").contains("there is no program"))
        #expect(answer(folder.path).contains("it is not a regular file"))
        #expect(try answer(write("exit 0", mode: 0o644)).contains("program confirm is not run: it is not executable"))
        #expect(try answer(write("exit 0", mode: 0o777)).contains("everybody may change it"))
        #expect(try answer(folder.write("text", "no program")).contains("cannot be started"))
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "/bin/true")
        #expect(answer(folder.path + "/link").contains("it is not a regular file"))
    }

    @Test("A program can neither read files nor write them, nor reach the network")
    func confined() throws {
        let secret = try folder.write("secret", "line\n", mode: 0o644)
        let open = try folder.makeFolder("open", mode: 0o1777)
        #expect(try answer(write("cat '\(secret)' && exit 0; exit 1")) == "no")
        #expect(try answer(write("echo x >'\(open)/x' && exit 0; exit 1")) == "no")
        #expect(try FileManager.default.contentsOfDirectory(atPath: open).isEmpty)
    }
}
