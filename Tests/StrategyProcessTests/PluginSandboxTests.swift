import FoundationEssentials
import Glibc
import StoreStrategies
import TestSupport
import Testing

@testable import StrategyProcess

@Suite(
    "What the sandbox denies a plugin, and by which means",
    .verify,
    .enabled(if: PluginSandbox.isKernelAble, "needs Landlock")
)
struct PluginSandboxTests {
    private static let rest: Set<String> = ["and", "that", "is", "all"]
    /// What the first version of Landlock denies.
    private static let files: Set<String> = ["read", "sibling", "list", "write", "make", "remove"]

    @Test(
        "With the system call filter and any version of Landlock, every attempt fails",
        arguments: 1...max(1, KernelProtection.current.landlockVersion)
    )
    func everyVersion(_ version: Int32) throws {
        let kernel = KernelProtection(landlockVersion: version, filtersCalls: true)
        #expect(kernel.gaps.isEmpty)
        let prober = try PluginProber()
        #expect(try prober.findings(under: kernel) == Self.rest)
        #expect(try prober.isUntouched())
    }

    @Test("Without filter and Landlock every attempt succeeds")
    func nothing() throws {
        let kernel = KernelProtection(landlockVersion: 0, filtersCalls: false)
        #expect(kernel.gaps == PluginSandbox.Gap.allCases)
        #expect(try PluginProber().findings(under: kernel) == PluginProber.everything.union(Self.rest))
    }

    @Test("Landlock's first version alone denies files, and nothing else")
    func landlockAlone() throws {
        let kernel = KernelProtection(landlockVersion: 1, filtersCalls: false)
        #expect(kernel.gaps == PluginSandbox.Gap.allCases.filter { $0 != .files })
        let found = try PluginProber().findings(under: kernel)
        #expect(found == PluginProber.everything.subtracting(Self.files).union(Self.rest))
    }

    @Test("The system call filter alone denies everything except files")
    func filterAlone() throws {
        let kernel = KernelProtection(landlockVersion: 0, filtersCalls: true)
        #expect(kernel.gaps == [.files])
        #expect(try PluginProber().findings(under: kernel) == Self.files.union(Self.rest))
    }

    @Test(
        "Without the filter, attempts that no version of Landlock denies succeed",
        arguments: [(Int32(2), "truncation"), (3, "devices"), (4, "devices"), (5, "signals"), (7, "network")]
    )
    func gaps(_ version: Int32, _ first: String) {
        let gaps = KernelProtection(landlockVersion: version, filtersCalls: false).gaps
        #expect(gaps.map(\.rawValue).contains(first))
        #expect(Set(gaps).isSuperset(of: [.network, .attributes, .processGroup]))
        #expect(gaps.contains(.truncation) == (version < 3))
        #expect(gaps.contains(.devices) == (version < 5))
        #expect(gaps.contains(.signals) == (version < 6))
    }

    @Test(
        "A kernel that cannot enforce the sandbox runs no plugin unless the caller allows it",
        arguments: [
            (KernelProtection(landlockVersion: 0, filtersCalls: true), "cannot keep it from files (Landlock)"),
            (KernelProtection(landlockVersion: 7, filtersCalls: false), "cannot keep it from the network, the modes"),
        ]
    )
    func unable(_ kernel: KernelProtection, _ reason: String) throws {
        let folder = try PluginFolder()
        try folder.plugin("Good")
        let error = #expect(throws: StrategyError.self) { try folder.strategy("Good") { $0.kernel = kernel } }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.recoverySuggestion.contains("sandbox policy best-effort") == true)
        let strategy = try folder.strategy("Good") {
            $0.kernel = kernel
            $0.policy = .bestEffort
        }
        #expect(try strategy.describe(.sample).timeout == 9)
        #expect(strategy.gaps == kernel.gaps)
        #expect(strategy.unconfined?.isEmpty == false)
        #expect(try folder.strategy("Good").unconfined == nil)
    }

    @Test(
        "A plugin can signal or change no process, not even itself",
        arguments: ["kill -0 $$ #", "prlimit --pid $$ --nofile #", "unshare -U true #"]
    )
    func processes(_ command: String) throws {
        let folder = try PluginFolder()
        try folder.plugin(
            "Hostile",
            """
            summary=denied.........; \(command) && summary=done...........
            echo '\(HostilePlugin.capability("Hostile", summary: "'$summary'"))'
            """
        )
        for landlock in [KernelProtection.current.landlockVersion, 0] {
            let strategy = try folder.strategy("Hostile") {
                $0.kernel = KernelProtection(landlockVersion: landlock, filtersCalls: true)
                $0.policy = .bestEffort
            }
            #expect(strategy.documentation.summary == "denied.........")
        }
    }

    @Test("A plugin inherits no descriptor and no environment")
    func isAlone() throws {
        let folder = try PluginFolder()
        try folder.plugin(
            "Hostile",
            """
            summary=alone
            for number in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
                { true <&$number; } 2>&1 | { read -r said; case $said in *'Bad file'*) exit 0;; esac; exit 1; } || summary=$summary-$number
            done
            echo '\(HostilePlugin.capability("Hostile", summary: "'$summary:$HOME:$USER'"))'
            """,
            shell: "/bin/bash"
        )
        #expect(try folder.strategy("Hostile").documentation.summary == "alone::")
    }

    @Test("A plugin that may read the store's folder, by any path, is refused")
    func storeInReach() throws {
        let folder = try PluginFolder()
        try folder.plugin("Good")
        let data = try folder.makeFolder(PluginFile.prefix + "Good.d", mode: 0o755)
        let strategy = try folder.strategy("Good")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: data)
        for place in [data, data + "/deeper", folder.path + "/link", "/usr/share"] {
            var request = StrategyRequest.sample
            request.description.url = URL(filePath: place + "/Habits.sqlite")
            let error = #expect(throws: StrategyError.self) { try strategy.evaluate(request) }
            #expect(error?.message.contains("holds the store") == true, "\(place)")
        }
        var request = StrategyRequest.sample
        request.description.url = URL(filePath: folder.path + "/Habits.sqlite")
        #expect(try strategy.evaluate(request) == .applicable)
    }
}
