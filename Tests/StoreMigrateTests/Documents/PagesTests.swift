import FoundationEssentials
import StoreFixtures
import TestSupport
import Testing

@Suite("Documentation pages", .sampled)
struct PagesTests {
    /// The info strings of fenced blocks, each with the test that checks such blocks.
    private static let kinds: [String: String] = [
        "swift": "compiled below", "sh": "PageRunTests", "transcript": "PageRunTests", "sh make": "targets below",
        "yaml": "read below", "json": "read below", "text": "words alone", "grammar": "every test that reads --json",
        "json request": "PluginsReadmeTests", "wire": "PluginTests", "text transcript": "PluginsReadmeTests",
        "swift test": "StrangersStrategyTests", "swift manifest": "StartPageTests", "swift main": "StartPageTests",
        "swift suite": "StartPageTests",
        "swift apple": "ApplePlatformsTests",
    ]

    @Test("Every fenced block has a kind that a test checks")
    func kinds() {
        #expect(Page.all.count > 5)
        for page in Page.all {
            for block in page.blocks {
                // The kind is a file name: PluginsReadmeTests compares the block with that file.
                let isFile = block.kind.contains("/") && page.path == "Plugins/README.md"
                #expect(isFile || Self.kinds[block.kind] != nil, "\(page.path):\(block.line): '\(block.kind)'")
            }
        }
    }

    @Test("Every Swift block compiles against the public interface", .verify)
    func swift() throws {
        let compiler = SwiftCompiler()
        var sources: [String: String] = [:]
        for page in Page.all {
            // A block with `import Testing` needs a client's package: the tests of that product check it.
            for block in page.blocks where block.kind == "swift" && !block.lines.contains("import Testing") {
                let name = page.path.replacing(".md", with: "").replacing("/", with: "-")
                sources["\(name)-line-\(block.line).swift"] = Self.module(of: block)
            }
        }
        #expect(sources.count > 4)
        // Warnings are accepted: an example may leave a value unused.
        let complaints = try compiler.complaints(about: sources)
        #expect(!complaints.contains("error:"), "\(complaints)")
    }

    /// The block as a file of a module: top-level statements, which only a main file may have, go into a function.
    private static func module(of block: Page.Block) -> String {
        let imports = block.lines.filter { $0.wholeMatch(of: /(public )?import \w+/) != nil }
        let rest = block.lines.filter { !imports.contains($0) }
        let first = rest.first { !$0.allSatisfy { $0 == " " } } ?? ""
        let declarations = ["///", "public ", "struct ", "final ", "func ", "extension ", "enum ", "@", "actor "]
        guard !declarations.contains(where: first.hasPrefix) else { return block.text }
        let isAsync = rest.contains { $0.contains("await ") }
        return
            (imports + ["private func example\(block.line)() \(isAsync ? "async " : "")throws {"] + rest + ["}", ""])
            .joined(separator: "\n")
    }

    @Test("Every YAML and JSON block parses", arguments: Page.all)
    func documents(_ page: Page) throws {
        for block in page.blocks where ["yaml", "json"].contains(block.kind) {
            if block.kind == "json" {
                for line in block.lines.first == "{" ? [block.text] : block.lines { _ = try JSONTree(line) }
            } else {
                #expect(try YAMLNode.root(of: block.text) != nil, "\(page.path):\(block.line)")
            }
        }
    }

    @Test("Every make target that a page names exists", arguments: Page.all)
    func targets(_ page: Page) async throws {
        let commands = page.blocks.filter { $0.kind == "sh make" }.flatMap(\.lines)
        let named = page.prose.flatMap { $0.text.matches(of: /`make ([a-z-]+)[^`]*`/).map { "make \($0.1)" } }
        let makefile = try String(contentsOf: URL(filePath: Tool.package + "/Makefile"), encoding: .utf8)
        for command in commands + named where !command.isEmpty {
            let words = command.split(separator: " ")
            #expect(words.first == "make", "\(page.path): \(command)")
            let target = try #require(words.dropFirst().first)
            #expect(makefile.contains("\n\(target):"), "\(page.path): \(command)")
        }
    }

    @Test("Every link target exists", arguments: Page.all)
    func links(_ page: Page) throws {
        let folder = page.path.split(separator: "/").dropLast().joined(separator: "/")
        for link in page.links where !link.target.hasPrefix("https://") {
            let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let place: Comment = "\(page.path):\(link.line): \(link.target)"
            let target: String
            if link.target.hasPrefix("doc:") {
                target = folder + "/" + parts[0].dropFirst(4) + ".md"
            } else {
                target = parts[0].isEmpty ? page.path : (folder.isEmpty ? "" : folder + "/") + parts[0]
            }
            let isThere = FileManager.default.fileExists(atPath: Tool.package + "/" + target)
            #expect(isThere, place)
            if parts.count == 2, isThere, !link.target.hasPrefix("doc:") {
                #expect(try Page(target).anchors.contains(String(parts[1])), place)
            }
        }
    }

    @Test("Every file that a page names in a code span exists", arguments: Page.all)
    func files(_ page: Page) {
        for (line, text) in page.prose {
            for match in text.matches(of: /`((?:Fixtures|Plugins|Sources|Tests)\/[\w.\/-]+)`/) {
                let isThere = FileManager.default.fileExists(atPath: Tool.package + "/" + match.1)
                #expect(isThere, "\(page.path):\(line): \(match.1)")
            }
        }
    }

    @Test("The first 40 lines of the README contain the sections on users and on the two commands")
    func firstScreen() throws {
        let page = try Page("README.md")
        let headings = page.prose.prefix { $0.line <= 40 }.map(\.text).filter { $0.hasPrefix("## ") }
        #expect(headings.starts(with: ["## Who runs it where", "## Two commands"]))
        #expect(page.blocks.first?.kind == "sh make" && (page.blocks.first?.line ?? 100) < 40)
    }
}
