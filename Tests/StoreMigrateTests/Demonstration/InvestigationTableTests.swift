import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("The program for the fetched results investigation")
struct InvestigationTableTests {
    private static var program: String {
        get throws { FilePath(try Tool.path).removingLastComponent().appending("FetchedResults").string }
    }

    @Test("The page of fetched results has the table that the program prints")
    func table() async throws {
        let run = try await Tool.run(command: [Self.program, "--table"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.lines.count == 24)
        let page = try ReferencePage.fetchedResults.text
        #expect(page.contains(run.output), "\(run.output)")
        // Every finding and remedy, in their order.
        let letters = run.lines.dropFirst(2).compactMap { $0.split(separator: "|").first?.first { $0.isLetter } }
        #expect(String(letters.reduce(into: []) { if $0.last != $1 { $0.append($1) } }) == "abcdefghijklmno")
    }

    @Test("The costs have a row for each remedy, with the same counts as the page except for rows read and times")
    func costs() async throws {
        // A debug build needs a minute for the 100,000 objects of the page.
        let sizes = ["10", "1000"] + (getenv("STORE_MIGRATE_SOAK") == nil ? [] : ["100000"])
        let run = try await Tool.run(command: [Self.program, "--costs"] + sizes)
        #expect(run.status == 0, "\(run.errors)")
        let page = try ReferencePage.fetchedResults.text
        #expect(page.contains("`swift run -c release FetchedResults --costs 10 1000 100000` prints this table"))
        let rows = run.lines.dropFirst(2).map { $0.split(separator: "|").prefix(7).joined(separator: "|") }
        #expect(rows.count == 8 * sizes.count)
        for row in rows { #expect(page.contains("|" + row + "|"), "\(row)") }
        // At 100,000 objects each remedy has a hundred times the counts of 1,000.
        func counts(_ size: String) -> [[Int]] {
            page.split(separator: "\n").filter { $0.hasPrefix("| \(size) |") }
                .map { row in
                    row.split(separator: "|").dropFirst(3).dropLast()
                        .flatMap { $0.split(separator: " of ") }
                        .compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
                }
        }
        #expect(counts("1000").count == 8 && counts("1000").allSatisfy { $0.count == 6 })
        #expect(counts("100000") == counts("1000").map { $0.map { $0 * 100 } })
    }

    @Test("Commands change a context, choose the processing and show both contexts with the controllers' events")
    func commands() throws {
        let program = try ChildProgram([Self.program], errors: .withOutput)
        let commands = [
            "insert 4", "save", "match 1", "save", "process refresh-matching", "insert 4", "save", "match 1", "save",
            "main delete 0", "main save", "predicate off", "nonsense", "insert x", "process all", "help", "quit",
        ]
        program.say(commands.joined(separator: "\n") + "\n")
        program.closeInput()
        let output = String(decoding: program.rest(), as: UTF8.self)
        #expect(program.wait() == 0)
        let shown = output.split(separator: "\n").filter { $0.hasPrefix("  main: ") }.map(String.init)
        func main(_ registered: String, deleted: String = "", shows: String) -> String {
            "  main: registered [\(registered)], inserted [], updated [], deleted [\(deleted)]; its controller shows [\(shows)]"
        }
        // A matching update is missed by the plain merge, and found by the remedy.
        #expect(shown[4] == main("0, 2", shows: "0, 2"))
        #expect(shown[9] == main("0, 1, 2", shows: "0, 1, 2"))
        #expect(shown[10] == main("0, 1, 2", deleted: "0", shows: "1, 2"))
        #expect(shown[12].hasSuffix("its controller shows [1, 2, 3]"))
        #expect(output.contains("    insert 1 row 1\n") && output.contains("    delete 0 row 0\n"))
        #expect(output.contains("process none|automatic|merge|"))
        for reason in ["no command 'nonsense'", "'x' is not a number", "no processing 'all'"] {
            #expect(output.contains(reason), "\(reason)")
        }
    }
}
