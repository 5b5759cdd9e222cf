import Foundation
import StoreAccess
import TestSupport
import Testing

@testable import StoreVerification

@Suite("Genuine stores", .genuineStores)
struct CorpusTests {
    /// The known findings of some genuine stores; all others are sound.
    private static let odd: [String: Set<Finding.Code>] = [
        "artsy-2.0": [.keyMaximumBehind, .wrongEntity, .danglingRelationship],
        "cdplus-sm1-v2": [.entityRenamed],
    ]

    @Test("A genuine store has only its known findings", arguments: Corpus.stores)
    func findings(_ store: String) throws {
        try withCopy(of: store) { location in
            let report = try StoreVerifier().verify(location, level: .coredata)
            #expect(Set(report.findings.map(\.code)) == Self.odd[String(store.prefix { $0 != "/" })] ?? [])
            #expect(report.levels.prefix(2).allSatisfy { $0.status == .passed })
            #expect(report.levels.last?.status != .skipped)
        }
    }

    @Test("A store equals itself, and its copy inherits its findings", arguments: Corpus.stores)
    func content(_ store: String) throws {
        try withCopy(of: store) { location in
            let report = try StoreVerifier().verify(location, level: .content, against: location)
            let compared = report.inheriting(from: report.findings)
            #expect(compared.passed)
            #expect(compared.provedLevels == VerificationLevel.allCases.filter { $0 <= .content })
            #expect(compared.findings.allSatisfy { $0.severity <= .inherited })
        }
    }

    @Test("Verifying changes nothing, not even a -shm", arguments: Corpus.stores)
    func unchanged(_ store: String) throws {
        try withCopy(of: store) { location in
            let before = try snapshot(of: location.folder)
            _ = try StoreVerifier().verify(location, level: .coredata)
            #expect(try snapshot(of: location.folder) == before)
        }
    }

    private func withCopy(of store: String, _ body: (StoreLocation) throws -> Void) throws {
        let scratch = try ScratchFolder()
        try withExtendedLifetime(scratch) { try body(Corpus.copy(store, into: scratch)) }
    }

    private func snapshot(of folder: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            files[name] = try? Data(contentsOf: URL(filePath: folder).appending(path: name))
        }
        return files
    }
}
