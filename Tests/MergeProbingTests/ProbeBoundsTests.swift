import Foundation
import StoreAccess
import StoreFixtures
import StoreStrategies
import StoreVerification
import TestSupport
import Testing

@testable import MergeProbing

@Suite("The merge probe and stores that it cannot test")
struct ProbeBoundsTests {
    private func verify(
        _ recipe: String,
        sql: String = "",
        _ probe: (StoreLocation) -> MergeProbe = { _ in MergeProbe(limits: MergeProbeTests.patient) }
    ) throws -> VerificationReport {
        let scratch = try ScratchFolder()
        let location = scratch.location("store.sqlite")
        try RecipeBuilder.build(RecipeReader.recipe(from: recipe), at: location)
        if !sql.isEmpty {
            let connection = try scratch.open()
            try connection.execute(sql)
            try connection.close()
        }
        return try withExtendedLifetime(scratch) {
            try StoreVerifier().verify(location, level: .merging, proof: probe(location).proof)
        }
    }

    private static let notes = """
        seed: notes
        model:
          entities:
            Note:
              attributes: {title: {type: string, optional: false}}
        saves:
          - at: 2026-03-01
            insert:
              - {entity: Note, repeat: 2, values: {title: "Note {n}"}}
        """

    @Test("An entity that requires too many objects is left out, and the others are tested")
    func tooManyCompanions() throws {
        let report = try verify(
            """
            seed: greedy
            model:
              entities:
                Greedy:
                  attributes: {name: string}
                  relationships:
                    things: {to: Thing, inverse: owner, many: true, optional: false, minCount: 300000}
                Thing:
                  attributes: {name: string}
                  relationships:
                    owner: {to: Greedy, inverse: things}
            saves:
              - at: 2026-03-01
                insert:
                  - {entity: Thing, values: {name: "one"}}
            """
        )
        #expect(report.passed)
        let coverage = try #require(report.probe?.coverage)
        #expect(coverage.first { $0.entity == "Greedy" }?.omitted["insert"] == "Greedy needs too many others")
        #expect(coverage.first { $0.entity == "Thing" }?.operations == ProbeStep.Operation.allCases)
    }

    @Test("A trigger that is not Core Data's does not affect the probe")
    func foreignTriggers() throws {
        let report = try verify(
            Self.notes,
            sql: "CREATE TRIGGER refusing BEFORE INSERT ON ZNOTE BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        #expect(report.passed)
        #expect(report.probe?.coverage.first?.operations == ProbeStep.Operation.allCases)
    }

    @Test("A probe of read-only roles reports that it tested nothing")
    func nobodyWrites() throws {
        let report = try verify(Self.notes) { location in
            var description = PersistentStoreDescription(url: location.url)
            description.isReadOnly = true
            return MergeProbe(descriptions: [.app: description, .extension("widget"): description])
        }
        #expect(report.levels.last?.status == .skipped)
        #expect(report.findings.map(\.code) == [.mergingNotTried])
        #expect(report.findings.first?.severity == .warning)
    }

    @Test("A role that cannot open the store is named", arguments: [StoreRole.app, .extension("widget")])
    func cannotOpen(_ role: StoreRole) throws {
        let report = try verify(Self.notes) { location in
            var descriptions: [StoreRole: PersistentStoreDescription] = [:]
            for one in [StoreRole.app, .extension("widget")] {
                var description = PersistentStoreDescription(url: location.url)
                if one == role { description.modelFile = "/nowhere/Model.mom" }
                descriptions[one] = description
            }
            return MergeProbe(descriptions: descriptions)
        }
        #expect(report.findings.map(\.code) == [.roleCannotOpen])
        #expect(report.findings.first?.message.hasPrefix("\(role) cannot open the store") == true)
    }

    @Test("An entity without a text or a number is tested, too")
    func plainAttributes() throws {
        let report = try verify(
            """
            seed: switches
            model:
              entities:
                Switch:
                  attributes: {id: {type: uuid, optional: false}, isOn: boolean}
            saves:
              - at: 2026-03-01
                insert:
                  - {entity: Switch, repeat: 2, values: {id: auto, isOn: true}}
            """
        )
        let coverage = try #require(report.probe?.coverage.first)
        #expect(coverage.operations == [.insert, .delete])
        #expect(Set(coverage.omitted.keys) == ["update", "match"])
    }
}
