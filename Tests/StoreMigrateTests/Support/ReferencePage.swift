import FoundationEssentials

/// The README and the reference pages that tests compare with the program.
enum ReferencePage: String {
    case readme = "README.md"
    case exitStatusesAndJSON = "Sources/StoreMigration/StoreMigration.docc/ExitStatusesAndJSON.md"
    case guarantees = "Sources/StoreMigration/StoreMigration.docc/Guarantees.md"
    case moveAndMigrate = "Sources/StoreMigration/StoreMigration.docc/MoveAndMigrate.md"
    case commandLine = "Sources/StoreMigration/StoreMigration.docc/CommandLine.md"
    case library = "Sources/StoreMigration/StoreMigration.docc/UsingTheLibrary.md"
    case fetchedResults = "Sources/ManagedObjects/ManagedObjects.docc/FetchedResultsAndSaves.md"
    case plugins = "Plugins/README.md"

    var text: String {
        get throws { try String(contentsOf: URL(filePath: Tool.package + "/" + rawValue), encoding: .utf8) }
    }

    /// The lines of the first fenced block with an info string.
    func block(_ info: String) throws -> [String] {
        let lines = try text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "```" + info) else { return [] }
        return lines[(start + 1)...].prefix { $0 != "```" }.map(String.init)
    }

    /// The rows of the table under a heading, as cells without their back quotes.
    func rows(under heading: String) throws -> [[String]] {
        let lines = try text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("## ") && $0.hasSuffix(heading) }) else { return [] }
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
        return section.filter { $0.hasPrefix("|") }.dropFirst(2)
            .map { line in
                line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                    .map { cell in
                        cell.filter { $0 != "`" }.trimmingSpaces
                    }
            }
    }
}

extension String {
    /// The text without spaces at its ends.
    var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
