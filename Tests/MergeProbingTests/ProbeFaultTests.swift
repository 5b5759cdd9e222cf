import ChangeRelay
import Foundation
import StoreAccess
import StoreFormat
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@testable import ManagedObjects
@testable import MergeProbing

/// Each test injects one fault that apps have, and expects the probe to name it.
@Suite("Findings of the merge probe")
struct ProbeFaultTests {
    private func findings(
        _ recipe: String = "many-to-many",
        _ probe: (StoreLocation) -> MergeProbe
    ) throws -> Set<Finding.Code> {
        var codes: Set<Finding.Code> = []
        try MergeProbeTests.withStore(recipe) { location, _ in
            let report = try StoreVerifier().verify(location, level: .merging, proof: probe(location).proof)
            #expect(report.levels.last?.level == .merging)
            #expect(report.levels.last?.status == .failed)
            #expect(!report.passed)
            codes = Set(report.findings.filter { $0.level == .merging }.map(\.code))
        }
        return codes
    }

    /// Correct roles, except for `change` of one of them.
    private func roles(
        _ location: StoreLocation,
        _ change: (StoreRole, inout PersistentStoreDescription) -> Void
    ) -> [StoreRole: PersistentStoreDescription] {
        var result: [StoreRole: PersistentStoreDescription] = [:]
        for role in [StoreRole.app, .extension("widget")] {
            var description = PersistentStoreDescription(url: location.url)
            description.isHistoryTrackingEnabled = true
            description.postsRemoteChangeNotifications = true
            change(role, &description)
            result[role] = description
        }
        return result
    }

    @Test("Finds a controller that considers only objects of its context")
    func registeredOnly() throws {
        let codes = try findings("history-on") { _ in
            var probe = MergeProbe(limits: MergeProbeTests.patient)
            probe.instruments.behaviour = .registeredOnly
            return probe
        }
        #expect(codes == [.controllerDiffersFromFetch])
    }

    @Test(
        "Finds a role without history tracking for a store with a history",
        arguments: [StoreRole.app, .extension("widget")]
    )
    func historyOff(_ role: StoreRole) throws {
        let codes = try findings("history-on") { location in
            MergeProbe(
                descriptions: roles(location) { if $0 == role { $1.isHistoryTrackingEnabled = false } },
                limits: MergeProbeTests.patient
            )
        }
        #expect(codes == [.historyDisagrees])
    }

    @Test("Finds a store that is silently read-only for every role")
    func readOnlyTrap() throws {
        let codes = try findings("history-on") { location in
            MergeProbe(
                descriptions: roles(location) { $1.isHistoryTrackingEnabled = false },
                limits: MergeProbeTests.patient
            )
        }
        #expect(codes == [.silentlyReadOnly])
    }

    @Test("Finds a lost row of a join table")
    func lostJoinRow() throws {
        let codes = try findings { location in
            MergeProbe(
                descriptions: roles(location) { _, _ in },
                writer: LosingJoinRows(),
                limits: MergeProbeTests.patient
            )
        }
        #expect(codes == [.savedRelationshipLost])
    }

    @Test("Finds a relay position that was moved past unmerged notices")
    func movedPosition() throws {
        let codes = try findings { location in
            MergeProbe(
                descriptions: roles(location) { $1.isHistoryTrackingEnabled = false },
                writer: Meddling { relay, _ in
                    try relay.execute("UPDATE consumer SET position = (SELECT max(sequence) FROM notice)")
                },
                limits: MergeProbeTests.patient
            )
        }
        #expect(codes == [.relayPositionMoved])
    }

    @Test("Finds notices that name a store with another UUID")
    func otherUUID() throws {
        let codes = try findings { location in
            MergeProbe(
                descriptions: roles(location) { $1.isHistoryTrackingEnabled = false },
                writer: Meddling { relay, uuid in
                    try relay.run(
                        "UPDATE notice SET content = CAST(replace(CAST(content AS TEXT), ?, ?) AS BLOB)",
                        [.text(uuid), .text("00000000-1111-4222-8333-444444444444")]
                    )
                },
                limits: MergeProbeTests.patient
            )
        }
        #expect(codes == [.otherStoreNamed])
    }

    @Test("Roles without notifications refresh everything and miss no change")
    func refreshing() throws {
        try MergeProbeTests.withStore("many-to-many") { location, _ in
            let probe = MergeProbe(
                descriptions: roles(location) {
                    $1.isHistoryTrackingEnabled = false
                    $1.postsRemoteChangeNotifications = false
                },
                limits: MergeProbeTests.patient
            )
            let report = try StoreVerifier().verify(location, level: .merging, proof: probe.proof)
            #expect(report.probe?.findings == [])
            #expect(report.probe?.coverage.allSatisfy { $0.operations == ProbeStep.Operation.allCases } == true)
        }
    }

    @Test("Finds cached rows that are not refreshed")
    func staleRows() throws {
        let codes = try findings("history-on") { _ in
            var probe = MergeProbe(limits: MergeProbeTests.patient)
            probe.instruments.receiver = { coordinator, _ in try ForgettingNothing(coordinator) }
            return probe
        }
        #expect(codes == [.staleObject])
    }
}

/// Saves correctly, and then changes the relay.
private struct Meddling: ProbeWriter {
    let meddle: @Sendable (StoreConnection, _ storeUUID: String) throws -> Void

    var name: String { "one that meddles" }

    func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        Session(
            inner: try CoordinatorProbeWriter().begin(with: description),
            store: StoreLocation(url: description.url),
            meddle: meddle
        )
    }

    private struct Session: ProbeSession {
        let inner: any ProbeSession
        let store: StoreLocation
        let meddle: (StoreConnection, String) throws -> Void

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            let answer = try inner.carryOut(step)
            let relay = StoreLocation(folder: store.folder, name: RelayQueue.name(for: store.name))
            let connection = try StoreConnection(relay, access: .liveWriting, lockTimeout: .seconds(60))
            try meddle(connection, ObjectURI(#require(answer.changes.first).uri).storeUUID)
            try connection.close()
            return answer
        }

        func end() throws { try inner.end() }
    }
}

/// Saves correctly, and then deletes every row of the join tables.
private struct LosingJoinRows: ProbeWriter {
    var name: String { "one that loses rows" }

    func begin(with description: PersistentStoreDescription) throws -> any ProbeSession {
        Session(
            inner: try CoordinatorProbeWriter().begin(with: description),
            location: StoreLocation(url: description.url)
        )
    }

    private struct Session: ProbeSession {
        let inner: any ProbeSession
        let location: StoreLocation

        func carryOut(_ step: ProbeStep) throws -> ProbeAnswer {
            let answer = try inner.carryOut(step)
            let connection = try StoreConnection(location, access: .liveWriting, lockTimeout: .seconds(60))
            let layout = try #require(try StoreLayout(reading: connection))
            for table in layout.joinTables { try connection.run("DELETE FROM \(SQLName.quoted(table.name))", []) }
            try connection.close()
            return answer
        }

        func end() throws { try inner.end() }
    }
}

/// Merges the history's changes without refreshing cached rows.
private struct ForgettingNothing: ProbeReceiver {
    private let coordinator: PersistentStoreCoordinator
    private var token: PersistentHistoryToken

    init(_ coordinator: PersistentStoreCoordinator) throws {
        self.coordinator = coordinator
        token = try coordinator.currentPersistentHistoryToken()
    }

    mutating func receive(into contexts: [ManagedObjectContext], repeating: Bool) throws -> ProbeDelivery {
        var delivery = ProbeDelivery()
        let transactions = try coordinator.fetchHistory(after: token)
        token = try coordinator.currentPersistentHistoryToken()
        for transaction in transactions {
            for context in contexts {
                try context.performAndWait { try $0.graph.merge(transaction.objectIDNotification()) }
            }
            delivery.uris.formUnion(transaction.changes.map { $0.changedObjectID.uriRepresentation() })
        }
        return delivery
    }
}
