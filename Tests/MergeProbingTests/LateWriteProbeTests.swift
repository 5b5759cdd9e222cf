import ManagedObjects
import SafeFiles
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@testable import MergeProbing

/// Each test injects one fault of a merge of late writes, and expects the probe to name it.
@Suite("Findings of the probe of late writes")
struct LateWriteProbeTests {
    /// Probes late writes to a copy of a store, without the rest of the probe.
    private func codes(
        _ recipe: String = "history-on",
        _ change: (inout MergeProbe.Instruments) -> Void
    ) throws -> Set<Finding.Code> {
        var codes: Set<Finding.Code> = []
        try MergeProbeTests.withStore(recipe) { location, _ in
            let scratch = try TemporaryDirectory(prefix: "late-write-probe")
            var instruments = MergeProbe.Instruments()
            change(&instruments)
            let findings = try StoreReader()
                .withView(of: location) { view in
                    let model = try #require(try ManagedObjectModel(cachedIn: view.connection))
                    let layout = try #require(try StoreLayout(reading: view.connection, model: model))
                    let metadata = try #require(try StoreMetadata(reading: view.connection))
                    let sample = try ProbeSample(
                        of: view.connection,
                        layout: layout,
                        journalMode: .wal,
                        named: "store.sqlite",
                        in: scratch.directory
                    )
                    var description = PersistentStoreDescription(url: sample.location.url)
                    description.isHistoryTrackingEnabled = true
                    return try LateWriteProbe(
                        sample: sample,
                        folder: scratch.directory,
                        entities: ProbeEntity.all(of: sample, uuid: metadata.uuid),
                        model: model,
                        description: description,
                        writer: CoordinatorProbeWriter(),
                        instruments: instruments
                    )
                    .result().findings
                }
            codes = Set(findings.map(\.code))
        }
        return codes
    }

    @Test(
        "Late writes arrive for every kind of store, and neither store is changed",
        arguments: ["history-on", "many-to-many", "inheritance", "ordered", "rollback-journal"]
    )
    func sound(_ recipe: String) throws {
        try MergeProbeTests.withStore(recipe) { location, scratch in
            let other = scratch.location("old.sqlite")
            try scratch.copyFiles(to: scratch, as: other.name)
            let before = try [location.name, other.name].map { try scratch.bytes($0) }
            let report = try StoreVerifier()
                .verify(
                    location,
                    level: .merging,
                    against: other,
                    proof: MergeProbe(limits: MergeProbeTests.patient).proof
                )
            #expect(report.passed)
            #expect(report.findings.filter { $0.level == .merging }.isEmpty, "\(report.findings)")
            #expect(report.probe?.pairs.last == "old store to new store")
            #expect(try [location.name, other.name].map { try scratch.bytes($0) } == before)
        }
    }

    @Test("Finds a late write that was dropped")
    func dropped() throws {
        let found = try codes {
            $0.afterMerge = { try $0.execute("DELETE FROM ZNOTE WHERE Z_PK = (SELECT max(Z_PK) FROM ZNOTE)") }
        }
        #expect(found.contains(.lateWriteLost))
    }

    @Test("Finds a reference that was not updated after an object got another key")
    func reference() throws {
        let found = try codes {
            $0.afterMerge = {
                try $0.execute("UPDATE ZNOTE SET ZFOLDER = NULL WHERE Z_PK = (SELECT max(Z_PK) FROM ZNOTE)")
            }
        }
        #expect(found.contains(.lateReferenceLost))
        #expect(!found.contains(.lateWriteLost))
    }

    @Test("Finds a greatest key that was not raised")
    func keyMaximum() throws {
        let found = try codes {
            $0.afterMerge = { try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'") }
        }
        #expect(found == [.keyMaximumBehind])
    }

    @Test("Finds a merge that is missing in the history")
    func history() throws {
        let found = try codes {
            $0.afterMerge = {
                try $0.execute("DELETE FROM ACHANGE WHERE ZTRANSACTIONID = (SELECT max(Z_PK) FROM ATRANSACTION)")
            }
        }
        #expect(found == [.mergeNotTold])
    }

    @Test("Finds a controller that is not notified")
    func controller() throws {
        let found = try codes {
            $0.receiver = { coordinator, _ in DeafReceiver(heard: try HistoryProbeReceiver(coordinator)) }
        }
        #expect(found == [.mergeNotShown])
    }

    @Test("Finds a controller that considers only objects of its context")
    func registeredOnly() throws {
        #expect(try codes { $0.behaviour = .registeredOnly } == [.mergeNotShown])
    }
}

/// Receives all changes and merges none.
private struct DeafReceiver: ProbeReceiver {
    var heard: HistoryProbeReceiver

    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        try heard.receive(into: [], repeating: repeating)
    }
}
