import ModelMigration
import StoreMigration

extension MappingChange {
    /// The change as an object.
    var record: JSONValue {
        .object([
            ("type", .string("mappingChange")), ("change", .string(kind.rawValue)), ("entity", .string(entity)),
            ("property", .optional(property)), ("former", .optional(former)),
        ])
    }
}

extension MappingRefusal {
    /// The refusal as an object, with Core Data's error.
    var record: JSONValue {
        .object([
            ("type", .string("mappingRefusal")), ("rule", .string(rule.rawValue)), ("entity", .optional(entity)),
            ("property", .optional(property)), ("reason", .string(reason)), ("remedy", .string(remedy)),
            ("coreDataError", .optional(rule.coreDataErrorName)),
            ("coreDataCode", .optional(rule.coreDataErrorCode.map(Int64.init))),
        ])
    }
}

extension MigrationForecast {
    /// The verdict as an object.
    var record: JSONValue {
        .object(
            [
                ("type", .string("migration")), ("path", .string(path)), ("tx", .null),
                ("verdict", .string(verdict.rawValue)),
            ]
                + target.members + mapping.members + [
                    ("copiedTables", .strings([])), ("extendedTables", .strings([])), ("removedFiles", .strings([])),
                    ("keptAside", .null),
                ]
        )
    }
}

extension LightweightMigrationOutcome {
    /// The result as an object.
    var record: JSONValue {
        .object(
            [
                ("type", .string("migration")), ("path", .string(path)), ("tx", .optional(transaction)),
                (
                    "verdict",
                    .string((transaction == nil ? MigrationForecast.Verdict.compatible : .inferred).rawValue)
                ),
            ] + target.members + mapping.members + [
                ("copiedTables", .strings(copiedTables)), ("extendedTables", .strings(extendedTables)),
                ("removedFiles", .strings(removedFiles)), ("keptAside", .optional(keptAside)),
            ]
        )
    }
}

extension MigrationTarget {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("model", .string(path)), ("version", .optional(versionName)), ("genuineHashes", .bool(hasGenuineHashes)),
        ]
    }
}

extension InferredMapping? {
    /// Each entity of the target with its source, and the entities that are removed.
    fileprivate var members: [(String, JSONValue)] {
        let entities = self?.entities
            .map { entity in
                JSONValue.object([("name", .string(entity.target)), ("source", .optional(entity.source))])
            }
        return [
            ("mappings", .array(entities ?? [])), ("removedEntities", .strings(self?.removedEntities ?? [])),
        ]
    }
}
