import StoreStrategies

extension StoreStrategy {
    /// The strategy's documentation as an object.
    var record: JSONValue {
        let page = documentation
        return .object([
            ("type", .string("strategy")), ("name", .string(name)), ("summary", .string(page.summary)),
            ("sets", .strings(page.sets.map(\.rawValue))), ("options", .array(page.options.map(\.record))),
            ("example", .string(page.example)), ("notApplicable", .string(page.notApplicable)),
            ("forApplePlatforms", .bool(page.isForApplePlatforms)),
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
    /// A strategy's answer for this role, as an object.
    func record(_ strategy: String) throws -> JSONValue {
        let changes = applied.first?.changes
        return .object([
            ("type", .string("answer")), ("strategy", .string(strategy)), ("role", .string(role.description)),
            ("applies", .bool(changes != nil)), ("reason", .optional(skipped.first?.reason)),
            ("changes", try changes.map { try JSONValue(encoding: $0) } ?? .object([])),
        ])
    }
}
