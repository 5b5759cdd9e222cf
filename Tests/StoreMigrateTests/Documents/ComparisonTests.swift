import TestSupport
import Testing

@Suite("The comparison with other movers", .verify)
struct ComparisonTests {
    @Test("The README's table is what the stories print, and this tool keeps everything")
    func table() async throws {
        let run = try await Tool.run(
            command: [Tool.package + "/Tests/compare", try Tool.path, Tool.package + "/Fixtures/Movers"]
        )
        #expect(run.status == 0, "\(run.errors)")
        let printed = run.output.split(separator: "\n").dropFirst(2)
            .map { line in line.split(separator: "|").map { String($0).trimmingSpaces } }
        #expect(printed == (try ReferencePage.readme.rows(under: "Compared")))
        let own = try #require(printed.first { $0.first == "store-migrate" })
        #expect(own.dropFirst().dropLast().allSatisfy { $0 == "kept" })
        #expect(own.last == "refused")
    }
}
