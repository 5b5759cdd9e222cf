public import StoreStrategies

/// Opens the store read-only in extensions, so that only the app ever writes it.
public struct ReadOnlyExtensionStrategy: StoreStrategy {
    public let name = "ReadOnlyExtension"

    public let documentation = StrategyDocumentation(
        summary: "Opens the store read-only in extensions, so that only the app ever writes it.",
        sets: [.isReadOnly],
        options: [
            StrategyDocumentation.Option("name", "The name of one extension; by default all extensions.")
        ],
        example: "ReadOnlyExtension:name=widget",
        notApplicable: "To the app, which writes the store; and to extensions other than the named one."
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        guard case .extension(let own) = request.role else { return .notApplicable(reason: "the app writes the store") }
        if let wanted = request.options["name"], wanted != own {
            return .notApplicable(reason: "only the extension \(wanted) is selected")
        }
        return .applicable
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.isReadOnly = true
        return changes
    }
}
