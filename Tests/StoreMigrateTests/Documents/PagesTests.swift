import FoundationEssentials
import TestSupport
import Testing
import Yams

@Suite("What people read is so", .sampled)
struct PagesTests {
    /// What is written behind a fence, and who holds what is behind it to be true.
    private static let kinds: [String: String] = [
        "swift": "compiled below", "sh": "PageRunTests", "transcript": "PageRunTests", "sh make": "targets below",
        "yaml": "read below", "json": "read below", "text": "words alone", "grammar": "every test that reads --json",
        "json request": "PluginsReadmeTests", "wire": "PluginTests", "text transcript": "PluginsReadmeTests",
        "swift test": "StrangersStrategyTests", "swift manifest": "StrangersStrategyTests",
    ]

    @Test("The pages are there, and a test holds each of their blocks")
    func kinds() {
        #expect(Page.all.count > 5)
        for page in Page.all {
            for block in page.blocks {
                // A name of a file: PluginsReadmeTests compares the two.
                let isFile = block.kind.contains("/") && page.path == "Plugins/README.md"
                #expect(isFile || Self.kinds[block.kind] != nil, "\(page.path):\(block.line): '\(block.kind)'")
            }
        }
    }

    @Test("Everything in Swift compiles against what is public", .verify)
    func swift() throws {
        let compiler = try #require(SwiftCompiler())
        var sources: [String: String] = [:]
        for page in Page.all {
            // A test of a client's own needs that client's package: the product's tests hold it.
            for block in page.blocks where block.kind == "swift" && !block.lines.contains("import Testing") {
                let name = page.path.replacing(".md", with: "").replacing("/", with: "-")
                sources["\(name)-line-\(block.line).swift"] = Self.module(of: block)
            }
        }
        #expect(sources.count > 4)
        // What an example makes and does not use is worth a warning, and no more.
        let complaints = try compiler.complaints(about: sources)
        #expect(!complaints.contains("error:"), "\(complaints)")
    }

    /// A block as a file of a module: statements, which only a program's main file may have, become a function's.
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

    @Test("What is YAML or JSON can be read as such", arguments: Page.all)
    func documents(_ page: Page) throws {
        for block in page.blocks where ["yaml", "json"].contains(block.kind) {
            if block.kind == "json" {
                for line in block.lines.first == "{" ? [block.text] : block.lines { _ = try JSONTree(line) }
            } else {
                #expect(try Yams.compose(yaml: block.text) != nil, "\(page.path):\(block.line)")
            }
        }
    }

    @Test("Every make target that is named is one", arguments: Page.all)
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

    @Test("Every link leads somewhere", arguments: Page.all)
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

    @Test("Every file that the pages name in code is there", arguments: Page.all)
    func files(_ page: Page) {
        for (line, text) in page.prose {
            for match in text.matches(of: /`((?:Fixtures|Plugins|Sources|Tests)\/[\w.\/-]+)`/) {
                let isThere = FileManager.default.fileExists(atPath: Tool.package + "/" + match.1)
                #expect(isThere, "\(page.path):\(line): \(match.1)")
            }
        }
    }

    @Test("The README's first screen says what it is, who runs it where, and how")
    func firstScreen() throws {
        let page = try Page("README.md")
        let headings = page.prose.prefix { $0.line <= 40 }.map(\.text).filter { $0.hasPrefix("## ") }
        #expect(headings.starts(with: ["## Who runs it where", "## Two commands"]))
        #expect(page.blocks.first?.kind == "sh make" && (page.blocks.first?.line ?? 100) < 40)
    }
}
