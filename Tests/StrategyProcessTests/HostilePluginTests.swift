import Dispatch
import Foundation
import Glibc
import StoreStrategies
import Synchronization
import TestSupport
import Testing

@testable import StrategyProcess

/// Serialized: one test exhausts resources that another needs.
@Suite("Hostile plugins", .verify, .serialized, .enabled(if: PluginSandbox.isKernelAble, "needs Landlock"))
struct HostilePluginTests {
    private let folder: PluginFolder
    /// A number of seconds that no other process on this machine sleeps.
    private let nap = "\(UInt32.random(in: 100_000_000...999_999_999))"

    init() throws { folder = try PluginFolder() }

    private func refusal(
        _ name: String,
        within seconds: Int = 60,
        _ change: (inout PluginSandbox) -> Void = { _ in }
    ) -> String {
        do {
            let strategy = try folder.strategy(name, within: seconds, change)
            let pipeline = StrategyPipeline([StrategyPipeline.Step(strategy)])
            _ = try pipeline.describe(StoreFacts(), from: StrategyRequest.sample.description)
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// Processes that were started by a plugin of this test.
    private func leftovers() throws -> [String] { try RunningProcesses.mentioning([folder.path, nap]) }

    /// Writes a hostile plugin, with files for it to attack.
    private func write(_ plugin: HostilePlugin) throws {
        let secret = try folder.write("secret", "line\n", mode: 0o644)
        let open = try folder.makeFolder("open", mode: 0o1777)
        try folder.write(
            PluginFile.prefix + HostilePlugin.name,
            plugin.text(secret: secret, open: open, nap: nap)
        )
    }

    @Test("A correct plugin answers")
    func good() throws {
        try folder.plugin("Good")
        let strategy = try folder.strategy("Good")
        #expect(try strategy.evaluate(.sample) == .applicable)
        #expect(try strategy.describe(.sample).timeout == 9)
        #expect(refusal("Good") == "")
    }

    @Test("A plugin is a value of a pipeline, and an unknown name is answered with the near one")
    func value() async throws {
        try folder.plugin("Good", capability: HostilePlugin.capability("Good"))
        let pipeline = StrategyPipeline(
            [try await .plugin("Good", in: [folder.path])],
            roles: [.app, .extension("widget")]
        )
        let results = try pipeline.describe(StoreFacts(), from: StrategyRequest.sample.description)
        #expect(results.map(\.description.timeout) == [9, 9])
        let error = await #expect(throws: StrategyError.self) {
            try await StrategyPipeline.Step.plugin("Goood", in: [folder.path])
        }
        #expect(error?.code == .unknownStrategy)
        #expect(error?.message == "there is no strategy 'Goood'; did you mean 'Good'?")
    }

    @Test("Cancelling the task ends a plugin that does not answer")
    func cancelledTask() async throws {
        try folder.plugin("Slow", "exec sleep \(nap)")
        let task = Task { try await StrategyPipeline.Step.plugin("Slow", in: [folder.path]) }
        task.cancel()
        let error = await #expect(throws: StrategyError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try leftovers().isEmpty)
    }

    @Test(
        "A hostile plugin is refused with a reason on one line, and none of its processes is left",
        arguments: HostilePlugin.all
    )
    func refused(_ plugin: HostilePlugin) throws {
        try write(plugin)
        var (text, expected) = ("", "")
        for seconds in plugin.seconds {
            (text, expected) = (refusal(HostilePlugin.name, within: seconds), plugin.refusal(within: seconds))
            guard plugin.isLate(text, within: seconds) else { break }
        }
        #expect(text.contains(expected), "\(text)")
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E }, "\(text)")
        #expect(text.count < 600)
        #expect(try leftovers().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/open").isEmpty)
    }

    @Test(
        "Without a sandbox the same plugin answers",
        arguments: HostilePlugin.all.filter(\.isFreeWithoutSandbox)
    )
    func free(_ plugin: HostilePlugin) throws {
        try write(plugin)
        let text = refusal(HostilePlugin.name) {
            $0.kernel = KernelProtection(landlockVersion: 0, filtersCalls: false)
            $0.policy = .bestEffort
        }
        #expect(text.isEmpty, "\(text)")
    }

    @Test("A background process of a plugin that answers correctly is ended, and the answer counts")
    func leftBehind() throws {
        try folder.plugin("Good", before: "sleep \(nap) </dev/null >/dev/null 2>&1 &")
        #expect(refusal("Good") == "")
        #expect(try leftovers().isEmpty)
    }

    @Test("A plugin that changes its description of itself is refused")
    func changing() throws {
        try folder.plugin(
            "Hostile",
            """
            read -r first
            if read -r second; then summary=Later.; else summary=Before.; fi
            echo '\(HostilePlugin.capability("Hostile", summary: "'$summary'"))'
            [ "$summary" = Before. ] || echo '{"applicability":{"result":{"applicable":{}}}}'
            """
        )
        #expect(refusal("Hostile").contains("changed its description of itself"))
    }

    @Test("A plugin's reason for not applying is cut and escaped")
    func reason() throws {
        let long = String(repeating: "long ", count: 200)
        try folder.plugin(
            "Hostile",
            evaluate: #"{"applicability":{"result":{"notApplicable":{"reason":"\u001b[2J\#(long)"}}}}"#
        )
        guard case .notApplicable(let reason) = try folder.strategy("Hostile").evaluate(.sample) else {
            Issue.record("the plugin applies")
            return
        }
        #expect(reason.hasPrefix("\\u{1B}[2Jlong "))
        #expect(reason.hasSuffix("…") && reason.count <= PluginWords.most + 1, "\(reason.count)")
    }

    @Test("A plugin's deadline is for all its questions together")
    func time() throws {
        // Each question alone takes a tenth of the time, and there are more than ten.
        try folder.plugin("Slow", before: "sleep 0.3")
        let strategy = try folder.strategy("Slow", within: 3)
        let error = #expect(throws: StrategyError.self) {
            for _ in 0..<20 { _ = try strategy.evaluate(.sample) }
        }
        #expect(error?.message.contains("it did not answer within 3.0 seconds") == true, "\(error?.message ?? "")")
        let again = #expect(throws: StrategyError.self) { try strategy.evaluate(.sample) }
        #expect(again?.message.contains("it did not answer within 3.0 seconds") == true, "\(again?.message ?? "")")
    }

    @Test("A cancelled question returns at once and ends the plugin")
    func cancellation() throws {
        try folder.plugin("Hostile", "sleep \(nap)")
        let questions = Atomic(0)
        let error = #expect(throws: StrategyError.self) {
            try folder.strategy(
                "Hostile",
                within: 86_400,
                isCancelled: { questions.wrappingAdd(1, ordering: .relaxed).newValue > 3 }
            )
        }
        #expect(error?.code == .cancelled)
        #expect(try leftovers().isEmpty)
    }

    @Test("Fork bombs do not keep another plugin from answering")
    func crowd() throws {
        try folder.plugin("Good")
        try folder.plugin("Hostile", "fork() { fork & fork & }; while :; do sleep \(nap) & fork; done")
        let crowd = DispatchGroup()
        let refusals = Mutex<[String]>([])
        for _ in 0..<4 {
            crowd.enter()
            Thread {
                for _ in 0..<3 {
                    let text = refusal("Hostile", within: 1)
                    refusals.withLock { $0.append(text) }
                }
                crowd.leave()
            }
            .start()
        }
        for _ in 0..<60 { #expect(refusal("Good") == "") }
        #expect(crowd.wait(timeout: .now() + 120) == .success)
        #expect(refusals.withLock { $0.count } == 12)
        #expect(refusals.withLock { $0.allSatisfy { $0.contains("the plugin Hostile is refused") } })
        #expect(try leftovers().isEmpty)
    }

    @Test("When memory runs out, the kernel kills the plugin before its host")
    func memory() throws {
        try folder.plugin("Hostile", "exec sleep \(nap)")
        let found = Mutex<[String]>([])
        let error = #expect(throws: StrategyError.self) {
            try folder.strategy(
                "Hostile",
                isCancelled: { [nap] in
                    // Once it runs, its command line is visible, and so is its OOM score.
                    let scores = (try? RunningProcesses.files("oom_score_adj", ofThoseMentioning: nap)) ?? []
                    found.withLock { $0 = scores }
                    return !scores.isEmpty
                }
            )
        }
        #expect(error?.code == .cancelled)
        #expect(found.withLock { $0 } == ["1000\n"])
    }

    @Test("A plugin's limits do not exceed those of the host")
    func limits() throws {
        try folder.plugin(
            "Modest",
            """
            summary=$(ulimit -n)
            echo '\(HostilePlugin.capability("Modest", summary: "'$summary descriptors.'"))'
            """
        )
        var hard = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &hard) == 0)
        // More than any process has: the plugin gets what the host can pass on.
        let strategy = try folder.strategy("Modest") {
            $0.limits.descriptors = UInt64.max
            $0.limits.memoryBytes = UInt64.max
        }
        let most = hard.rlim_max == rlim_t.max ? "unlimited" : "\(hard.rlim_max)"
        #expect(strategy.documentation.summary == "\(most) descriptors.")
        #expect(try folder.strategy("Modest").documentation.summary == "64 descriptors.")
    }
}
