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
    var record: JSONValue { .migration(of: path, nil, verdict, target, mapping) }
}

extension LightweightMigrationOutcome {
    /// The result as an object.
    var record: JSONValue {
        .migration(
            of: path,
            transaction,
            transaction == nil ? .compatible : .inferred,
            target,
            mapping,
            copied: copiedTables,
            extended: extendedTables,
            removed: removedFiles,
            keptAside: keptAside
        )
    }
}

extension SharePlan.Migration {
    /// The mapping of the copy of a share to `path`.
    func record(of path: String) -> JSONValue { .migration(of: path, nil, .inferred, target, mapping) }
}

extension ShareOutcome.Migration {
    /// The result for the copy of a share to `path`.
    func record(of path: String, _ transaction: String?) -> JSONValue {
        .migration(
            of: path,
            transaction,
            .inferred,
            target,
            mapping,
            copied: copiedTables,
            extended: extendedTables,
            removed: omittedFiles
        )
    }
}

extension JSONValue {
    /// A record of the type `migration`.
    fileprivate static func migration(
        of path: String,
        _ transaction: String?,
        _ verdict: MigrationForecast.Verdict,
        _ target: MigrationTarget,
        _ mapping: InferredMapping?,
        copied: [String] = [],
        extended: [String] = [],
        removed: [String] = [],
        keptAside: String? = nil
    ) -> JSONValue {
        .object(
            [
                ("type", .string("migration")), ("path", .string(path)), ("tx", .optional(transaction)),
                ("verdict", .string(verdict.rawValue)),
            ]
                + target.members + mapping.members + [
                    ("copiedTables", .strings(copied)), ("extendedTables", .strings(extended)),
                    ("removedFiles", .strings(removed)), ("keptAside", .optional(keptAside)),
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
