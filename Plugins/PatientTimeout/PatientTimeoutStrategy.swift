import StoreStrategies

/// Lets a program wait longer for the store before it gives up.
struct PatientTimeoutStrategy: StoreStrategy {
    let name = "PatientTimeout"

    let documentation = StrategyDocumentation(
        summary: "Lets a program wait longer for the store before it gives up.",
        sets: [.timeout],
        options: [StrategyDocumentation.Option("seconds", "How long to wait.", defaultValue: "300")],
        example: "PatientTimeout:seconds=600",
        notApplicable: "For an extension: the system ends it before long waiting could help."
    )

    func evaluate(_ request: StrategyRequest) throws -> Applicability {
        request.role == .app ? .applicable : .notApplicable(reason: "an extension has no time to wait")
    }

    func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        let text = request.options["seconds"] ?? "300"
        guard let seconds = Double(text), (1...86_400).contains(seconds) else {
            throw StrategyError.invalidOption("seconds", text, of: name, expected: "a number from 1 to 86400")
        }
        var changes = DescriptionChanges()
        changes.timeout = seconds
        return changes
    }
}
