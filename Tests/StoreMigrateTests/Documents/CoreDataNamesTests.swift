import Foundation
import TestSupport
import Testing

@Suite("The table of Core Data's names")
struct CoreDataNamesTests {
    /// Names of Core Data, and what the page says of them.
    private struct Row {
        let type: String?
        let names: [String]
        let here: String

        /// The name of a member of the section's type.
        func member(_ name: String) -> String { type.map { "\($0).\(name)" } ?? name }
    }

    private static func quoted(_ cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The rows of the page; a heading names Core Data's type, and ours if it is another name.
    private static func rows() throws -> [Row] {
        var type: String?
        var rows: [Row] = []
        for (_, line) in try Page("Sources/ManagedObjects/ManagedObjects.docc/CoreDataNames.md").prose {
            if line.hasPrefix("## ") {
                let words = line.dropFirst(3).split(separator: ": ")
                type =
                    words[0].hasPrefix("NS") ? words.count > 1 ? String(words[1]) : String(words[0].dropFirst(2)) : nil
            } else if line.hasPrefix("| `") {
                let cells = line.split(separator: "|")
                let here = try #require(cells.dropFirst().first).trimmingCharacters(in: .whitespaces)
                rows.append(Row(type: type, names: quoted(cells[0]), here: here))
            }
        }
        return rows
    }

    @Test("Names that are the same or others exist in the public interface, and missing ones do not")
    func names() throws {
        let compiler = SwiftCompiler()
        let modules = [
            "ManagedObjects", "StoreFormat", "StoreAccess", "StoreStrategies", "ChangeMerging", "StoreMigration",
        ]
        let known = try compiler.publicNames(of: modules)
        let rows = try Self.rows()
        // Every name of the documented interface has a row: a row may be added, none may go.
        #expect(rows.flatMap(\.names).count >= 368)
        for row in rows {
            if let type = row.type { #expect(known.contains(type), "\(type)") }
            for name in row.names {
                #expect(known.contains(row.member(name)) == (row.here == "same"), "\(row.member(name)): \(row.here)")
            }
            guard row.here != "same", row.here != "missing" else { continue }
            let others = Self.quoted(row.here[...])
            #expect(!others.isEmpty, "\(row.names): \(row.here)")
            for other in others { #expect(known.contains(row.member(other)) || known.contains(other), "\(other)") }
        }
    }
}
