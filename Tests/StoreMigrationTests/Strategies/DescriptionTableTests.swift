import FoundationEssentials
import StoreStrategies
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The table of options and their effects")
struct DescriptionTableTests {
    private static let guide = Checkout.path + "/Plugins/README.md"

    @Test("The page lists every option with its effect here, as the share treats it")
    func effects() throws {
        let text = try String(contentsOf: URL(filePath: Self.guide), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .map { row in
                row.split(separator: "|")
                    .map { cell in cell.filter { $0 != "`" }.split(separator: " ").joined(separator: " ") }
            }
        #expect(rows.count > 15)
        for row in rows {
            try #require(row.count == 3, "\(row)")
            let option = DescriptionOption(rawValue: row[0])
            #expect((row[2] == "carried") == option.isCarriedOnly, "\(row)")
            #expect(row[2] == "carried" || row[2] == "in force", "\(row)")
        }
    }
}
