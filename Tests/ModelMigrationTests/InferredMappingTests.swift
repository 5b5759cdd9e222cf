import ModelMigration
import SafeFiles
import StoreFormat
import TestSupport
import Testing

@Suite("Inferring a mapping between two versions of a model")
struct InferredMappingTests {
    /// One documented rule, with two models that differ by it alone.
    struct Rule: CustomTestStringConvertible, Sendable {
        let name: String
        let source: ManagedObjectModel
        let target: ManagedObjectModel
        var changes: [String] = []
        var requirements: [InferredMapping.Requirement] = []
        var refusals: [String] = []
        var testDescription: String { name }
    }

    @Test("Each inferable rule gives its changes and its requirements", arguments: inferable)
    func inferring(_ rule: Rule) throws {
        let mapping = try InferredMapping(from: rule.source, to: rule.target)
        #expect(mapping.changes.map(\.text) == rule.changes)
        #expect(mapping.requirements == rule.requirements)
        #expect(mapping.isIdentity == rule.changes.isEmpty)
    }

    @Test("Each rule that Core Data does not infer is refused with entity, property and rule", arguments: refused)
    func refusing(_ rule: Rule) throws {
        let error = #expect(throws: MappingRefusals.self) { try InferredMapping(from: rule.source, to: rule.target) }
        let refusals = try #require(error?.refusals)
        #expect(refusals.map { "\($0.rule) \($0.subject)" } == rule.refusals)
        for refusal in refusals {
            #expect(!refusal.reason.isEmpty)
            #expect(refusal.remedy.hasSuffix("."))
        }
    }

    @Test("A refusal names Core Data's error, or none where Core Data itself would migrate")
    func errorCodes() {
        let codes = Dictionary(
            uniqueKeysWithValues: MappingRefusal.Rule.allCases.map { ($0.rawValue, $0.coreDataErrorCode) }
        )
        #expect(codes["attributeType"] == 134190)
        #expect(codes["unrelatedModels"] == 134140)
        #expect(codes["mandatoryAttribute"] == 134110)
        #expect(codes["olderVersion"] == .some(nil))
        for rule in MappingRefusal.Rule.allCases {
            #expect((rule.coreDataErrorCode == nil) == (rule.coreDataErrorName == nil))
        }
    }

    @Test("The mapping of a moved attribute names its source for each entity that had it")
    func movedUp() throws {
        let source = model(
            entity("Animal"),
            entity("Cat", parent: "Animal", [attribute("name")]),
            entity("Dog", parent: "Animal")
        )
        let target = model(
            entity("Animal", [attribute("name")]),
            entity("Cat", parent: "Animal"),
            entity("Dog", parent: "Animal")
        )
        let mapping = try InferredMapping(from: source, to: target)
        #expect(mapping.entity("Cat")?.attribute("name")?.source?.name == "name")
        #expect(mapping.entity("Dog")?.attribute("name")?.source == nil)
        #expect(mapping.entity("Animal")?.attribute("name")?.source == nil)
        #expect(mapping.entity("Dog")?.source == "Dog")
        #expect(mapping.target(of: "Dog") == "Dog")
        #expect(mapping.entity("Bird") == nil)
        #expect(mapping.entity("Cat")?.relationship("owner") == nil)
    }
}

extension MappingChange {
    /// The change in one line.
    var text: String {
        "\(kind) \(entity)" + (property.map { "." + $0 } ?? "") + (former.map { " from " + $0 } ?? "")
    }
}

extension InferredMappingTests {
    static let inferable: [Rule] = attributeRules + relationshipRules + entityRules + definitionRules

    private static func attributes(
        _ name: String,
        _ source: [AttributeDescription],
        _ target: [AttributeDescription],
        _ changes: [String],
        _ requirements: [InferredMapping.Requirement] = []
    ) -> Rule {
        Rule(
            name: name,
            source: model(entity("A", source)),
            target: model(entity("A", target)),
            changes: changes,
            requirements: requirements
        )
    }

    private static let attributeRules = [
        attributes("equal models", [attribute("x")], [attribute("x")], []),
        attributes("optional attribute added", [], [attribute("x")], ["attributeAdded A.x"]),
        attributes(
            "mandatory attribute with a default added",
            [],
            [attribute("x", .integer16, required: true, default: .integer(3))],
            ["attributeAdded A.x"]
        ),
        attributes(
            "mandatory attribute without a default added",
            [],
            [attribute("x", required: true)],
            ["attributeAdded A.x"],
            [.value(entity: "A", attribute: "x")]
        ),
        attributes("attribute removed", [attribute("x")], [], ["attributeRemoved A.x"]),
        attributes(
            "attribute made optional",
            [attribute("x", required: true)],
            [attribute("x")],
            [
                "attributeMadeOptional A.x"
            ]
        ),
        attributes(
            "attribute made mandatory with a default",
            [attribute("x")],
            [attribute("x", required: true, default: .string("-"))],
            ["attributeMadeRequired A.x"]
        ),
        attributes(
            "attribute made mandatory without a default",
            [attribute("x")],
            [attribute("x", required: true)],
            ["attributeMadeRequired A.x"],
            [.value(entity: "A", attribute: "x")]
        ),
        attributes("attribute renamed", [attribute("x")], [attribute("y", was: "x")], ["attributeRenamed A.y from x"]),
        attributes(
            "attribute renamed twice",
            [attribute("y", was: "x")],
            [attribute("z", was: "x")],
            ["attributeRenamed A.z from y"]
        ),
        attributes(
            "integer attribute widened",
            [attribute("x", .integer16)],
            [attribute("x", .integer64)],
            [
                "attributeWidened A.x from Integer 16"
            ]
        ),
        attributes(
            "external storage enabled",
            [attribute("x", .binaryData)],
            [attribute("x", .binaryData, external: true)],
            ["externalStorageEnabled A.x"]
        ),
        attributes(
            "external storage disabled",
            [attribute("x", .binaryData, external: true)],
            [attribute("x", .binaryData)],
            ["externalStorageDisabled A.x"]
        ),
        attributes(
            "attribute made transient",
            [attribute("x")],
            [attribute("x", transient: true)],
            [
                "attributeRemoved A.x"
            ]
        ),
        attributes(
            "attribute made persistent",
            [attribute("x", transient: true)],
            [attribute("x")],
            [
                "attributeAdded A.x"
            ]
        ),
        attributes(
            "attribute derived differently",
            [attribute("x"), attribute("y", derived: "x")],
            [attribute("x"), attribute("y", derived: "canonical:(x)")],
            ["derivationChanged A.y from x"]
        ),
        attributes(
            "derived attribute made plain",
            [attribute("y", derived: "x")],
            [attribute("y")],
            ["derivationChanged A.y from x"]
        ),
        attributes(
            "version hash modifier of an attribute",
            [attribute("x")],
            [attribute("x", modifier: "2")],
            ["versionHashModifierChanged A.x"]
        ),
    ]

    private static func pair(_ a: [RelationshipDescription], _ b: [RelationshipDescription]) -> ManagedObjectModel {
        model(entity("A", [], a), entity("B", [], b))
    }

    private static let relationshipRules = [
        Rule(
            name: "relationships added",
            source: pair([], []),
            target: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            changes: ["relationshipAdded A.bs", "relationshipAdded B.a"]
        ),
        Rule(
            name: "mandatory relationship added",
            source: pair([], []),
            target: pair([toOne("b", "B", required: true)], []),
            changes: ["relationshipAdded A.b"],
            requirements: [.destination(entity: "A", relationship: "b")]
        ),
        Rule(
            name: "relationships removed",
            source: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            target: pair([], []),
            changes: ["relationshipRemoved A.bs", "relationshipRemoved B.a"]
        ),
        Rule(
            name: "relationships renamed",
            source: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            target: pair(
                [toMany("items", "B", inverse: "owner", was: "bs")],
                [toOne("owner", "A", inverse: "items", was: "a")]
            ),
            changes: ["relationshipRenamed A.items from bs", "relationshipRenamed B.owner from a"]
        ),
        Rule(
            name: "to-one made to-many",
            source: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            target: pair([toMany("bs", "B", inverse: "a")], [toMany("a", "A", inverse: "bs")]),
            changes: ["relationshipMadeToMany B.a"]
        ),
        Rule(
            name: "to-many made ordered",
            source: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            target: pair([toMany("bs", "B", inverse: "a", ordered: true)], [toOne("a", "A", inverse: "bs")]),
            changes: ["relationshipMadeOrdered A.bs"]
        ),
        Rule(
            name: "ordered to-many made unordered",
            source: pair([toMany("bs", "B", inverse: "a", ordered: true)], [toOne("a", "A", inverse: "bs")]),
            target: pair([toMany("bs", "B", inverse: "a")], [toOne("a", "A", inverse: "bs")]),
            changes: ["relationshipMadeUnordered A.bs"]
        ),
        Rule(
            name: "inverse added",
            source: pair([toOne("b", "B")], []),
            target: pair([toOne("b", "B", inverse: "as")], [toMany("as", "A", inverse: "b")]),
            changes: ["inverseChanged A.b", "relationshipAdded B.as"]
        ),
        Rule(
            name: "destination generalised to a new parent",
            source: model(entity("A", [], [toOne("b", "B")]), entity("B")),
            target: model(entity("A", [], [toOne("b", "Base")]), entity("B", parent: "Base"), entity("Base")),
            changes: ["destinationChanged A.b from B", "parentChanged B", "entityAdded Base"]
        ),
    ]

    private static let entityRules = [
        Rule(
            name: "entity added",
            source: model(entity("A")),
            target: model(entity("A"), entity("B", [attribute("x", required: true)])),
            changes: ["entityAdded B"]
        ),
        Rule(
            name: "entity removed",
            source: model(entity("A"), entity("B")),
            target: model(entity("A")),
            changes: ["entityRemoved B"]
        ),
        Rule(
            name: "entity renamed",
            source: model(entity("A", [], [toOne("b", "B")]), entity("B")),
            target: model(entity("A", [], [toOne("b", "C")]), entity("C", was: "B")),
            changes: ["entityRenamed C from B"]
        ),
        Rule(
            name: "attribute moved to the parent",
            source: model(entity("A"), entity("B", parent: "A", [attribute("x")])),
            target: model(entity("A", [attribute("x")]), entity("B", parent: "A")),
            changes: ["attributeAdded A.x", "attributeMoved A.x from B"]
        ),
        Rule(
            name: "attribute moved to a child",
            source: model(entity("A", [attribute("x")]), entity("B", parent: "A")),
            target: model(entity("A"), entity("B", parent: "A", [attribute("x")])),
            changes: ["attributeRemoved A.x", "attributeMoved B.x from A"]
        ),
        Rule(
            name: "relationship moved to the parent",
            source: model(entity("A"), entity("B", parent: "A", [], [toOne("c", "C")]), entity("C")),
            target: model(entity("A", [], [toOne("c", "C")]), entity("B", parent: "A"), entity("C")),
            changes: ["relationshipAdded A.c", "relationshipMoved A.c from B"]
        ),
        Rule(
            name: "entity moved out of its hierarchy",
            source: model(entity("A", [attribute("x")]), entity("B", parent: "A")),
            target: model(entity("A", [attribute("x")]), entity("B", [attribute("x")])),
            changes: ["parentChanged B from A", "attributeMoved B.x from A"]
        ),
        Rule(
            name: "entity inserted into the hierarchy",
            source: model(entity("A"), entity("C", parent: "A")),
            target: model(entity("A"), entity("B", parent: "A"), entity("C", parent: "B")),
            changes: ["entityAdded B", "parentChanged C from A"]
        ),
        Rule(
            name: "version hash modifier of an entity",
            source: model(entity("A")),
            target: model(entity("A", modifier: "1")),
            changes: ["versionHashModifierChanged A"]
        ),
    ]

    private static let definitionRules = [
        Rule(
            name: "constraint added",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A", [attribute("x")], unique: [["x"]])),
            changes: ["constraintAdded A.x"],
            requirements: [.uniqueValues(entity: "A", properties: ["x"])]
        ),
        Rule(
            name: "constraint of a renamed attribute",
            source: model(entity("A", [attribute("x")], unique: [["x"]])),
            target: model(entity("A", [attribute("y", was: "x")], unique: [["y"]])),
            changes: ["attributeRenamed A.y from x"]
        ),
        Rule(
            name: "constraint removed",
            source: model(entity("A", [attribute("x")], unique: [["x"]])),
            target: model(entity("A", [attribute("x")])),
            changes: ["constraintRemoved A.x"]
        ),
        Rule(
            name: "index replaced",
            source: model(
                entity("A", [attribute("x")], indexes: [.init(name: "byX", elements: [.init(property: "x")])])
            ),
            target: model(
                entity("A", [attribute("x")], indexes: [.init(name: "quick", elements: [.init(property: "x")])])
            ),
            changes: ["indexAdded A.quick", "indexRemoved A.byX"]
        ),
    ]
}

extension InferredMappingTests {
    static let refused = [
        Rule(
            name: "attribute type",
            source: model(entity("A", [attribute("x", .string)])),
            target: model(entity("A", [attribute("x", .integer64)])),
            refusals: ["attributeType A.x"]
        ),
        Rule(
            name: "integer attribute narrowed",
            source: model(entity("A", [attribute("x", .integer64)])),
            target: model(entity("A", [attribute("x", .integer32)])),
            refusals: ["attributeType A.x"]
        ),
        Rule(
            name: "attribute becomes a relationship",
            source: model(entity("A", [attribute("x")]), entity("B")),
            target: model(entity("A", [], [toOne("x", "B")]), entity("B")),
            refusals: ["propertyKind A.x"]
        ),
        Rule(
            name: "relationship becomes an attribute",
            source: model(entity("A", [], [toOne("x", "B")]), entity("B")),
            target: model(entity("A", [attribute("x")]), entity("B")),
            refusals: ["propertyKind A.x"]
        ),
        Rule(
            name: "to-many becomes a to-one",
            source: model(entity("A", [], [toMany("bs", "B")]), entity("B")),
            target: model(entity("A", [], [toOne("bs", "B")]), entity("B")),
            refusals: ["toManyToToOne A.bs"]
        ),
        Rule(
            name: "other destination",
            source: model(entity("A", [], [toOne("b", "B")]), entity("B"), entity("C")),
            target: model(entity("A", [], [toOne("b", "C")]), entity("B"), entity("C")),
            refusals: ["relationshipDestination A.b"]
        ),
        Rule(
            name: "destination narrowed to a child",
            source: model(entity("A", [], [toOne("b", "B")]), entity("B"), entity("C", parent: "B")),
            target: model(entity("A", [], [toOne("b", "C")]), entity("B"), entity("C", parent: "B")),
            refusals: ["relationshipDestination A.b"]
        ),
        Rule(
            name: "other inverse",
            source: model(
                entity("A", [], [toOne("b", "B", inverse: "a")]),
                entity("B", [], [toOne("a", "A", inverse: "b"), toOne("other", "A")])
            ),
            target: model(
                entity("A", [], [toOne("b", "B", inverse: "other")]),
                entity("B", [], [toOne("a", "A"), toOne("other", "A", inverse: "b")])
            ),
            refusals: ["relationshipInverse A.b"]
        ),
        Rule(
            name: "many-to-many loses its inverse",
            source: model(
                entity("A", [], [toMany("bs", "B", inverse: "as")]),
                entity("B", [], [toMany("as", "A", inverse: "bs")])
            ),
            target: model(entity("A", [], [toMany("bs", "B")]), entity("B")),
            refusals: ["relationshipInverse A.bs"]
        ),
        Rule(
            name: "hierarchies merged",
            source: model(entity("A"), entity("B")),
            target: model(entity("A", parent: "Base"), entity("B", parent: "Base"), entity("Base")),
            refusals: ["mergedHierarchies Base"]
        ),
        Rule(
            name: "entity moved into another hierarchy",
            source: model(entity("A"), entity("B")),
            target: model(entity("A"), entity("B", parent: "A")),
            refusals: ["mergedHierarchies A"]
        ),
        Rule(
            name: "models of different families",
            source: model(entity("A")),
            target: model(entity("B")),
            refusals: ["unrelatedModels "]
        ),
        Rule(
            name: "two entities with one renaming identifier",
            source: model(entity("A")),
            target: model(entity("A"), entity("B", was: "A")),
            refusals: ["ambiguousRenaming A"]
        ),
        Rule(
            name: "two properties with one renaming identifier",
            source: model(entity("A", [attribute("x")])),
            target: model(entity("A", [attribute("x"), attribute("y", was: "x")])),
            refusals: ["ambiguousRenaming A"]
        ),
        Rule(
            name: "a cycle of entities",
            source: model(entity("A")),
            target: model(entity("A", parent: "B"), entity("B", parent: "A")),
            refusals: ["invalidModel "]
        ),
        Rule(
            name: "two entities with one table",
            source: model(entity("A")),
            target: model(entity("A"), entity("a")),
            refusals: ["invalidModel "]
        ),
        Rule(
            name: "the source renamed an entity that the target has",
            source: model(entity("B", was: "A")),
            target: model(entity("A")),
            refusals: ["olderVersion A"]
        ),
        Rule(
            name: "the source renamed an attribute that the target has",
            source: model(entity("A", [attribute("y", was: "x")])),
            target: model(entity("A", [attribute("x")])),
            refusals: ["olderVersion A.x"]
        ),
        Rule(
            name: "a smaller version identifier",
            source: model(entity("A"), version: "3"),
            target: model(entity("A"), version: "2"),
            refusals: ["olderVersion "]
        ),
    ]
}
