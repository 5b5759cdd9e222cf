import StoreStrategies

/// A strategy that runs a closure when it is called, and sets a mode.
struct Interviewed: StoreStrategy {
    let name = "Interviewed"
    let documentation = StrategyDocumentation(
        summary: "Does something when it is asked.",
        sets: [.posixMode],
        example: "Interviewed",
        notApplicable: "It applies to every store."
    )
    let whenAsked: @Sendable () throws -> Void

    func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }

    func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        try whenAsked()
        var changes = DescriptionChanges()
        changes.posixMode = 0o660
        return changes
    }
}
