import UpgradeRehearsal

extension ScenarioReport {
    /// The report as an object.
    var record: JSONValue {
        .object([
            ("type", .string("scenario")), ("name", .string(name)), ("path", .string(path)), ("about", .string(about)),
            ("story", .array(story.map(JSONValue.string))), ("result", .string(result.rawValue)),
            ("steps", .array(steps.map(\.record))), ("failures", .array(failures.map(\.record))),
            ("reason", .optional(reason)), ("seconds", .real(seconds)), ("place", .optional(keptPlace)),
        ])
    }
}

extension ScenarioStepReport {
    fileprivate var record: JSONValue {
        .object([
            ("line", .integer(Int64(line))), ("title", .string(title)), ("held", .bool(hasHeld)),
            ("seconds", .real(seconds)),
        ])
    }
}

extension ScenarioFailure {
    fileprivate var record: JSONValue {
        .object([
            ("line", .integer(Int64(line))), ("column", .integer(Int64(column))), ("title", .string(title)),
            ("expected", .string(expected)), ("found", .string(found)), ("said", .string(said)),
        ])
    }
}
