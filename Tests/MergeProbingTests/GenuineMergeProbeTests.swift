import Foundation
import StoreAccess
import StoreFormat
import StoreVerification
import TestSupport
import Testing

@testable import MergeProbing

@Suite("The merge probe on genuine stores", .genuineStores)
struct GenuineMergeProbeTests {
    @Test("Saves of one side arrive at the other, and the store stays unchanged", arguments: Corpus.stores)
    func arrives(_ store: String) throws {
        let scratch = try ScratchFolder()
        let location = try Corpus.copy(store, into: scratch)
        let before = try files(of: scratch)
        let report = try StoreVerifier()
            .verify(location, level: .merging, proof: MergeProbe(limits: MergeProbeTests.patient).proof)
        #expect(try files(of: scratch) == before)
        let result = try #require(report.levels.last)
        guard result.status != .skipped else {
            #expect(try !hasModel(location))
            return
        }
        let probe = try #require(report.probe)
        #expect(probe.findings.isEmpty, "\(probe.findings)")
        #expect(!probe.isPartial)
        for entity in probe.coverage {
            let done = Set(entity.operations.map(\.rawValue))
            #expect(done.union(entity.omitted.keys) == Set(ProbeStep.Operation.allCases.map(\.rawValue)))
            // Two entities of the corpus have neither a sortable attribute nor a to-many relationship.
            let isListed = entity.omitted["insert"] != "it has no attribute to sort a list by"
            guard isListed else { continue }
            #expect(done.contains("insert"), "\(entity)")
            // An operation that the model forbids, or that has no attribute to change, cannot be tested.
            for (operation, reason) in entity.omitted {
                let isDenied = operation == "delete" && reason.hasSuffix("(1600)")
                #expect(isDenied || reason == "it has no attribute that a probe can set", "\(entity)")
            }
        }
    }

    @Test("Late writes to an old store arrive in the new one", arguments: Corpus.stores)
    func lateWrites(_ store: String) throws {
        let (scratch, other) = (try ScratchFolder(), try ScratchFolder())
        let location = try Corpus.copy(store, into: scratch)
        let old = try Corpus.copy(store, into: other)
        let before = try files(of: scratch).merging(files(of: other)) { $0 + $1 }
        let report = try StoreVerifier()
            .verify(location, level: .merging, against: old, proof: MergeProbe(limits: MergeProbeTests.patient).proof)
        #expect(try files(of: scratch).merging(files(of: other)) { $0 + $1 } == before)
        guard let probe = report.probe else { return }
        #expect(probe.findings.isEmpty, "\(probe.findings)")
        #expect(probe.pairs.last == "old store to new store")
    }

    private func hasModel(_ location: StoreLocation) throws -> Bool {
        try StoreReader().withView(of: location) { try ManagedObjectModel(cachedIn: $0.connection) != nil }
    }

    private func files(of scratch: ScratchFolder) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: scratch.path) {
            files[name] = try? Data(contentsOf: URL(filePath: scratch.path).appending(path: name))
        }
        return files
    }
}
