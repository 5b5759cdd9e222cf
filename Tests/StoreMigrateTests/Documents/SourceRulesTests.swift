import FoundationEssentials
import Testing

/// Rules about the sources that the compiler does not check.
@Suite("Rules of the sources")
struct SourceRulesTests {
    private struct Source {
        let module: String
        /// The first folder inside the module; empty for a file beside the folders.
        let folder: String
        let path: String
        /// The text without comments.
        let code: String
    }

    private static let sources: [Source] = {
        let root = Tool.package + "/Sources"
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
        return paths.filter { $0.hasSuffix(".swift") }
            .map { path in
                let parts = path.split(separator: "/").map(String.init)
                let text = (try? String(contentsOf: URL(filePath: root + "/" + path), encoding: .utf8)) ?? ""
                return Source(
                    module: parts[0],
                    folder: parts.count > 2 ? parts[1] : "",
                    path: path,
                    code: text.replacing(/(?m)(^|\s)\/\/.*$/, with: "")
                )
            }
    }()

    // MARK: Rows

    /// The rows of `Package.swift`, from top to bottom.
    private static func rows() throws -> [[String]] {
        let manifest = try String(contentsOf: URL(filePath: Tool.package + "/Package.swift"), encoding: .utf8)
        let list = try #require(manifest.firstMatch(of: /(?s)let rows = \[\n(.*?)\n\]\n/)?.1)
        return list.split(separator: "\n").map { $0.matches(of: /"([^"]+)"/).map { String($0.1) } }
    }

    /// The imports of modules of the same or a higher row.
    private static func wrongImports(_ sources: [Source], _ rows: [[String]]) -> [String] {
        var heights: [String: Int] = [:]
        for (index, row) in rows.enumerated() { for module in row { heights[module] = rows.count - index } }
        return sources.flatMap { source in
            source.code.matches(of: /(?m)^(?:@\w+ )?(?:\w+ )?import (?:\w+ )?(\w+)/).map { String($0.1) }
                .filter { imported in
                    guard let above = heights[source.module], let below = heights[imported] else { return false }
                    return below >= above
                }
                .map { "\(source.path) imports \($0)" }
        }
    }

    @Test("Every module has a row, and imports only modules of lower rows")
    func imports() throws {
        let rows = try Self.rows()
        let modules = Set(Self.sources.map(\.module))
        #expect(modules.count > 15 && modules == Set(rows.joined()))
        #expect(Self.wrongImports(Self.sources, rows) == [])
        let wrong = [
            Source(module: "A", folder: "", path: "A/a.swift", code: "package import B\nimport C"),
            Source(module: "B", folder: "", path: "B/b.swift", code: "import C\n@testable import A\n"),
        ]
        #expect(
            Self.wrongImports(wrong, [["C"], ["A", "B"]])
                == ["A/a.swift imports B", "A/a.swift imports C", "B/b.swift imports C", "B/b.swift imports A"]
        )
    }

    @Test("The table of modules in CONTRIBUTING has the rows of Package.swift")
    func table() throws {
        let page = try String(contentsOf: URL(filePath: Tool.package + "/.github/CONTRIBUTING.md"), encoding: .utf8)
        let block = try #require(page.firstMatch(of: /(?s)## Modules.*?```text\n(.*?)\n```/)?.1)
        let rows = block.split(separator: "\n").map { $0.split(separator: " ").dropFirst().map(String.init) }
        #expect(try rows == Self.rows())
    }

    // MARK: Folders

    /// The folders of a module that reach themselves by references to types.
    ///
    /// A name that several folders declare counts for none of them.
    private static func foldersInCycles(_ sources: [Source]) -> Set<String> {
        let declaration = /(?m)^(?:(\w+) )?(?:final |indirect )?(?:struct|class|enum|actor|protocol|typealias) (\w+)/
        var owners: [String: Set<String>] = [:]
        for source in sources where !source.folder.isEmpty {
            for match in source.code.matches(of: declaration) where !["private", "fileprivate"].contains(match.1) {
                owners[String(match.2), default: []].insert(source.folder)
            }
        }
        var targets: [String: Set<String>] = [:]
        for source in sources where !source.folder.isEmpty {
            for word in Set(source.code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
                guard let owner = owners[String(word)], owner.count == 1, let target = owner.first else { continue }
                if target != source.folder { targets[source.folder, default: []].insert(target) }
            }
        }
        return Set(
            targets.keys.filter { folder in
                var (seen, next) = (Set<String>(), Array(targets[folder] ?? []))
                while let one = next.popLast() {
                    if seen.insert(one).inserted { next += targets[one] ?? [] }
                }
                return seen.contains(folder)
            }
        )
    }

    /// The greatest number of folders in cycles, for modules that have some today; for every other module it is zero.
    ///
    /// A change may lower a number, never raise it.
    private static let cyclic = [
        "ChangeMerging": 6, "ManagedObjects": 9, "StoreFixtures": 2, "StoreMigration": 11,
        "UpgradeRehearsal": 5, "store-migrate": 7,
    ]

    @Test("The folders of a module refer to each other without new cycles")
    func folders() {
        for (module, sources) in Dictionary(grouping: Self.sources, by: \.module) {
            let cycle = Self.foldersInCycles(sources)
            #expect(cycle.count <= Self.cyclic[module, default: 0], "\(module): \(cycle.sorted())")
        }
        let parts = [("Up", "struct Top { var low: Low? }"), ("Down", "struct Low {}"), ("Side", "enum Alone {}")]
        func cycle(_ code: String) -> Set<String> {
            Self.foldersInCycles(
                (parts + [("Down", code)]).map { Source(module: "M", folder: $0.0, path: "", code: $0.1) }
            )
        }
        #expect(cycle("") == [])
        #expect(cycle("extension Low { func top() -> Top { Top() } }") == ["Up", "Down"])
    }

    // MARK: Words

    /// The lines that name an option of the command line.
    private static func namingOptions(_ source: Source) -> [String] {
        source.code.split(separator: "\n").filter { $0.contains(/"[^"]*--[a-z]/) }.map { "\(source.path): \($0)" }
    }

    @Test("No text of a library names an option of the command line")
    func options() {
        // These modules run the tool, and one type turns next steps into commands.
        let running = ["store-migrate", "UpgradeRehearsal"]
        let sources = Self.sources.filter { !running.contains($0.module) && !$0.path.hasSuffix("/NextStep.swift") }
        #expect(sources.flatMap(Self.namingOptions) == [])
        let wrong = Source(module: "M", folder: "", path: "M/m.swift", code: "let advice = \"Pass --state.\"")
        #expect(Self.namingOptions(wrong).count == 1)
    }
}
