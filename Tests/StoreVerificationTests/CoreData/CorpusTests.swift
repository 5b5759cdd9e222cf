import Foundation
import StoreFormat
import Testing

@testable import StoreVerification

@Suite("Genuine stores", .enabled(if: !Corpus.all.isEmpty, "no genuine stores at \(Corpus.folder.path)"))
struct CorpusTests {
    /// What the catalogue calls odd about some of them; all others are sound.
    private static let odd: [String: Set<Finding.Code>] = [
        "artsy-2.0": [.keyMaximumBehind, .wrongEntity, .danglingRelationship],
        "cdplus-sm1-v2": [.entityRenamed, .notProved],
    ]

    @Test("A rule fires only on what is genuinely odd", arguments: Corpus.all)
    func findings(_ entry: Corpus.Entry) throws {
        try entry.withCopy { location in
            let report = try StoreVerifier().verify(location, level: .coredata)
            #expect(Set(report.findings.map(\.code)) == Self.odd[entry.description] ?? [])
            #expect(report.levels.prefix(2).allSatisfy { $0.status == .passed })
            #expect(report.levels.last?.status != .skipped)
        }
    }

    @Test("A store equals itself, and inherits whatever is odd about it", arguments: Corpus.all)
    func content(_ entry: Corpus.Entry) throws {
        try entry.withCopy { location in
            let report = try StoreVerifier().verify(location, level: .content, against: location)
            let compared = report.inheriting(from: report.findings)
            #expect(compared.passed)
            #expect(compared.provedLevels == VerificationLevel.allCases)
            #expect(compared.findings.allSatisfy { $0.severity <= .inherited })
        }
    }

    @Test("Verifying changes nothing, not even a -shm", arguments: Corpus.all)
    func unchanged(_ entry: Corpus.Entry) throws {
        try entry.withCopy { location in
            let before = try snapshot(of: location.folder)
            _ = try StoreVerifier().verify(location, level: .coredata)
            #expect(try snapshot(of: location.folder) == before)
        }
    }

    private func snapshot(of folder: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            files[name] = try? Data(contentsOf: URL(filePath: folder).appending(path: name))
        }
        return files
    }
}
