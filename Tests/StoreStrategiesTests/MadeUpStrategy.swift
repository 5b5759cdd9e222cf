import FoundationEssentials
import StoreStrategies

/// A strategy for tests, which sets what it is given.
struct MadeUpStrategy: StoreStrategy {
    var name = "MadeUp"
    var documentation: StrategyDocumentation
    var applicability = Applicability.applicable
    var body: @Sendable (StrategyRequest) throws -> DescriptionChanges

    init(
        _ name: String = "MadeUp",
        sets: [DescriptionOption],
        _ body: @escaping @Sendable (StrategyRequest) throws -> DescriptionChanges
    ) {
        self.name = name
        self.body = body
        documentation = StrategyDocumentation(
            summary: "Is made up for a test.",
            sets: sets,
            example: name,
            notApplicable: "It applies to every store."
        )
    }

    func evaluate(_ request: StrategyRequest) throws -> Applicability { applicability }
    func describe(_ request: StrategyRequest) throws -> DescriptionChanges { try body(request) }
}

extension DescriptionChanges {
    static func setting(_ body: (inout DescriptionChanges) -> Void) -> DescriptionChanges {
        var changes = DescriptionChanges()
        body(&changes)
        return changes
    }
}

extension PersistentStoreDescription {
    static var sample: PersistentStoreDescription { Self(url: URL(filePath: "/group/Habits.sqlite")) }
}
