import FoundationEssentials
import MergeProbing
import StoreAccess
import StoreStrategies
import StoreVerification
import Testing

@testable import store_migrate

@Suite("The writer process of the merge probe")
struct ProbeProcessTests {
    private let scratch: Scratch
    private let store: String

    init() async throws {
        scratch = try Scratch()
        store = scratch.path("HabitCalendar.sqlite")
        let recipe = Tool.package + "/Fixtures/HabitCalendar/HabitCalendar.yaml"
        let built = try await Tool.run(["fixture", "build", recipe, store])
        #expect(built.status == 0, "\(built.errors)")
    }

    private static func description(_ store: String, isReadOnly: Bool = false) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: URL(filePath: store))
        description.isHistoryTrackingEnabled = true
        description.isReadOnly = isReadOnly
        return description
    }

    /// A writer that runs the tool, and appends a line to `log` whenever it starts it.
    private func writer(_ log: String) throws -> ProcessProbeWriter {
        let tool = try Tool.path
        return ProcessProbeWriter(
            program: "/bin/sh",
            arguments: ["-c", "echo $$ >>'\(log)'; exec '\(tool)' \(ProbeWriterCommand.word)"]
        )
    }

    @Test("Each direction is written by processes of its own, late writes included")
    func processes() throws {
        let log = scratch.path("log")
        var limits = MergeProbe.Limits()
        limits.duration = .seconds(600)
        let probe = MergeProbe(
            descriptions: [
                .app: Self.description(store), .extension("clock"): Self.description(store, isReadOnly: true),
                .extension("widget"): Self.description(store),
            ],
            writer: try writer(log),
            limits: limits
        )
        let location = StoreLocation(url: URL(filePath: store))
        let report = try #require(
            StoreVerifier().verify(location, level: .merging, against: location, proof: probe.proof).probe
        )
        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(
            report.directions.map { "\($0.from) to \($0.to)" } == [
                "extension(widget) to app", "app to extension(clock)", "app to extension(widget)",
                "extension(widget) to extension(clock)", "old store to new store",
            ]
        )
        for direction in report.directions {
            #expect(direction.writer == "another process")
            #expect(direction.operations == ProbeStep.Operation.allCases, "\(direction)")
        }
        let started = try String(contentsOf: URL(filePath: log), encoding: .utf8).split(separator: "\n")
        // An extension is started for each of four changes, an app once; the old and the new store have a process each.
        #expect(started.count == 4 + 1 + 1 + 4 + 2)
        #expect(Set(started).count == started.count)
        #expect(report.summary.hasSuffix("5 directions, written by another process"))
    }

    @Test(
        "A writer that exits, answers with rubbish, or cannot be started makes the probe report that it tested nothing",
        arguments: ["exit 3", "echo rubbish", "read -r line"]
    )
    func brokenWriter(_ script: String) throws {
        let probe = MergeProbe(writer: ProcessProbeWriter(program: "/bin/sh", arguments: ["-c", "\(script); exit 3"]))
        let report = try StoreVerifier()
            .verify(StoreLocation(url: URL(filePath: store)), level: .merging, proof: probe.proof)
        #expect(report.levels.last?.status == .skipped)
        #expect(report.findings.contains { $0.code == .mergingNotTried }, "\(report.findings)")
    }

    @Test("A writer that complains more than a pipe holds is not blocked, and the beginning is reported")
    func complaints() throws {
        let script = "yes complaint | head -c 200000 >&2; exit 3"
        let probe = MergeProbe(writer: ProcessProbeWriter(program: "/bin/sh", arguments: ["-c", script]))
        let report = try StoreVerifier()
            .verify(StoreLocation(url: URL(filePath: store)), level: .merging, proof: probe.proof)
        let finding = try #require(report.findings.first { $0.code == .mergingNotTried })
        #expect(finding.message.contains("ended with status 3: complaint"))
        #expect(finding.message.utf8.count < 8_192)
    }

    @Test("The tool's verbose text and JSON name the writer of every direction")
    func said() async throws {
        let run = try await Tool.run(["verify", store, "--level", "merging", "-v"])
        #expect(run.output.contains("extension(extension) to app: insert"), "\(run.output)")
        #expect(run.output.contains("app to extension(extension): insert"), "\(run.output)")
        #expect(run.lines.filter { $0.hasSuffix("written by another process") }.count >= 2)
    }
}
