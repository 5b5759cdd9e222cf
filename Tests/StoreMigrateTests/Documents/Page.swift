import FoundationEssentials
import Testing

/// A Markdown page of the documentation, with its fenced blocks.
struct Page: Sendable, CustomTestStringConvertible {
    /// A fenced block: its info string, the line of the fence, and its content.
    struct Block: Sendable {
        let kind: String
        let line: Int
        let lines: [String]

        var text: String { lines.joined(separator: "\n") + "\n" }
    }

    /// A link: its line and its target.
    struct Link: Sendable {
        let line: Int
        let target: String
    }

    /// The path from the package's folder.
    let path: String
    let blocks: [Block]
    /// The lines outside blocks.
    let prose: [(line: Int, text: String)]

    var testDescription: String { path }

    /// Every page of the package.
    static let all: [Page] = {
        let roots = [".github", "Fixtures", "Plugins", "Sources", "Tests"]
        let found = roots.flatMap { root in
            ((try? FileManager.default.subpathsOfDirectory(atPath: Tool.package + "/" + root)) ?? [])
                .map { root + "/" + $0 }
        }
        return (["README.md"] + found.filter { $0.hasSuffix(".md") }.sorted()).compactMap { try? Page($0) }
    }()

    /// A line with placeholders for what differs from run to run: the home folder, numbers with a unit, transaction IDs,
    /// digests and padding.
    static func shape(_ line: String, _ home: String) -> String {
        line.replacing(home, with: "~")
            .replacing(/[0-9][0-9.,]* (bytes|kB|MB|GB|s|ms)\b/) { "N \($0.1)" }
            .replacing(/[0-9a-f]{32,64}/, with: "TX")
            .replacing(/\x20+/, with: " ")
    }

    init(_ path: String) throws {
        self.path = path
        let text = try String(contentsOf: URL(filePath: Tool.package + "/" + path), encoding: .utf8)
        var blocks: [Block] = []
        var prose: [(line: Int, text: String)] = []
        var open: (kind: String, line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let block = open {
                if line == "```" {
                    blocks.append(Block(kind: block.kind, line: block.line, lines: block.lines))
                    open = nil
                } else {
                    open?.lines.append(String(line))
                }
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), index + 1, [])
            } else {
                prose.append((index + 1, String(line)))
            }
        }
        #expect(open == nil, "\(path): the block in line \(open?.line ?? 0) has no end")
        self.blocks = blocks
        self.prose = prose
    }

    /// The links in the prose, without those in code spans.
    var links: [Link] {
        prose.flatMap { line, text in
            let words = text.replacing(/`[^`]*`/, with: "")
            let inline = words.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
            let automatic = words.matches(of: /<((?:doc:|https?:\/\/)[^>\s]+)>/).map { String($0.1) }
            return (inline + automatic).map { Link(line: line, target: $0) }
        }
    }

    /// The anchors of its headings, as GitHub makes them.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.text.hasPrefix("#") }
                .map { heading in
                    let words = heading.text.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                    return String(
                        words.compactMap { character in
                            if character == " " { return "-" }
                            return character.isLetter || character.isNumber || "-_".contains(character)
                                ? character : nil
                        }
                    )
                }
        )
    }
}
