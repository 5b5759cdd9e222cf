import StoreStrategies

extension StoreStrategy {
    /// What it says of itself, as an object.
    var record: JSONValue {
        let told = documentation
        return .object([
            ("type", .string("strategy")), ("name", .string(name)), ("summary", .string(told.summary)),
            ("sets", .strings(told.sets.map(\.rawValue))), ("options", .array(told.options.map(\.record))),
            ("example", .string(told.example)), ("notApplicable", .string(told.notApplicable)),
            ("forApplePlatforms", .bool(told.isForApplePlatforms)),
        ])
    }
}

extension StrategyDocumentation.Option {
    fileprivate var record: JSONValue {
        .object([
            ("name", .string(name)), ("summary", .string(summary)), ("default", .optional(defaultValue)),
            ("values", .strings(values)),
        ])
    }
}

extension RoleDescription {
    /// What a strategy answered for this role, as an object.
    func record(_ strategy: String) throws -> JSONValue {
        let changes = applied.first?.changes
        return .object([
            ("type", .string("answer")), ("strategy", .string(strategy)), ("role", .string(role.description)),
            ("applies", .bool(changes != nil)), ("reason", .optional(skipped.first?.reason)),
            ("changes", try changes.map { try JSONValue(encoding: $0) } ?? .object([])),
        ])
    }
}
