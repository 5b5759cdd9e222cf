import FoundationEssentials
import TestSupport
import Testing

@Suite("Test tiers")
struct TierTests {
    /// A suite, as declared in its source.
    private struct Suite {
        let name: String
        let path: String
        let marks: [String]
        /// True if a part of the suite runs only in `make verify`.
        let isPart: Bool

        /// The make targets that run it.
        var tiers: Set<String> {
            switch marks {
            case ["verify"]: ["verify"]
            case ["sampled"]: ["test", "verify"]
            default: ["test"]
            }
        }
    }

    private static let suites: [Suite] = {
        let folder = Tool.package + "/Tests"
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".swift") && $0.split(separator: "/")[0].hasSuffix("Tests") }.sorted()
            .flatMap { path -> [Suite] in
                let text = (try? String(contentsOf: URL(filePath: folder + "/" + path), encoding: .utf8)) ?? ""
                let declaration = /(?s)@Suite\((.*?)\)\n(?:final )?(?:struct|class|actor|enum) (\w+)/
                let sampling = /Tier\.(?:sample|oneOrAll|sized)\(|RandomTriples\.|expectSound\(limit| \.verify[,)]/
                return text.matches(of: declaration)
                    .map { match in
                        Suite(
                            name: String(match.2),
                            path: path,
                            marks: ["verify", "sampled"].filter { match.1.contains(" .\($0)") },
                            isPart: text[match.range.upperBound...].contains(sampling)
                        )
                    }
            }
    }()

    @Test("Every suite has at most one tier mark, and .sampled exactly if it runs samples")
    func marks() {
        #expect(Self.suites.count > 300)
        for suite in Self.suites {
            #expect(suite.marks.count <= 1, "\(suite.path) has two marks")
            #expect(suite.isPart == (suite.marks == ["sampled"]), "\(suite.path): .sampled, and a sample, or neither")
        }
    }

    @Test("The page of guarantees lists, for each guarantee, the make targets that run its tests")
    func guarantees() throws {
        let makefile = try String(contentsOf: URL(filePath: Tool.package + "/Makefile"), encoding: .utf8)
        let brief = try #require(makefile.firstMatch(of: /\/proofs" ([a-z -]+)\n/)).1
        for row in try ReferencePage.guarantees.rows(under: "Guarantees") {
            var tiers: Set<String> = []
            for name in row[1].split(separator: ",").map({ String($0).trimmingSpaces }) {
                for suite in Self.suites where suite.name == name { tiers.formUnion(suite.tiers) }
                guard let proof = try Self.proof(name) else { continue }
                let isForRoot = ["block-states", "file-systems"].contains(proof)
                tiers.insert(
                    isForRoot ? "soak" : brief.split(separator: " ").contains(proof[...]) ? "verify" : "proofs"
                )
            }
            let expected = ["test", "verify", "proofs", "soak"].filter(tiers.contains).joined(separator: ", ")
            #expect(row.dropFirst(2) == [expected], "\(row[1])")
        }
    }

    /// The name of a harness in the proofs program; nil for other types.
    private static func proof(_ type: String) throws -> String? {
        let path = Tool.package + "/Tests/ProofsProgram/\(type).swift"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        return text.firstMatch(of: /let name = "([a-z-]+)"/).map { String($0.1) }
    }

    @Test("STORE_MIGRATE_TIER, if set, is the name of a tier")
    func variable() {
        let word = ProcessInfo.processInfo.environment[Tier.variable]
        #expect(word.map { Tier(rawValue: $0) != nil } ?? true, "\(word ?? "")")
    }
}
