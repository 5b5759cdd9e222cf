import FoundationEssentials

/// The package's README, as the tests read it.
enum Readme {
    static var text: String {
        get throws { try String(contentsOf: URL(filePath: Tool.package + "/README.md"), encoding: .utf8) }
    }

    /// The lines of the fenced block with an info string.
    static func block(_ info: String) throws -> [String] { try block(info, of: text) }

    /// The same of another page.
    static func block(_ info: String, of text: String) throws -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: "```" + info) else { return [] }
        return lines[(start + 1)...].prefix { $0 != "```" }.map(String.init)
    }

    /// The rows of the table under a heading, as cells without their back quotes.
    static func rows(under heading: String) throws -> [[String]] {
        let lines = try text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("#") && $0.hasSuffix(heading) }) else { return [] }
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
