import StoreFormat

extension StoreInspection {
    /// The store as an object.
    var record: JSONValue {
        .object([
            ("type", .string("store")), ("path", .string(location.path)), ("kind", .string(kind.rawValue)),
            ("uuid", .optional(uuid)), ("journalMode", .string(header.journalMode.rawValue)),
            ("frameworkVersion", .optional(metadata?.frameworkVersion)),
            ("pageSize", .integer(Int64(header.pageSize))),
            ("files", .array(files.map(\.record))),
            ("entities", .array(entities.map(\.record))),
            ("joinTables", .array(joinTables.map(\.record))),
            ("tables", .array(tables.map(\.record))),
            ("history", history?.record ?? .null),
            ("model", modelRecord),
            ("metadataKeys", .strings((metadata?.values.keys).map { $0.sorted() } ?? [])),
            ("fence", fence?.record ?? .null),
            ("digest", .optional(digest?.value)),
        ])
    }

    private var modelRecord: JSONValue {
        guard let model, let modelSource else { return .null }
        return .object([
            ("source", .string(modelSource.rawValue)), ("entities", .integer(Int64(model.entitiesByName.count))),
            ("versionIdentifiers", .strings(model.versionIdentifiers)),
        ])
    }
}

extension StoreFile {
    var record: JSONValue {
        .object([("role", .string(role.rawValue)), ("name", .string(name)), ("bytes", .integer(bytes))])
    }
}

extension StoreInspection.EntityCount {
    var record: JSONValue {
        .object([
            ("name", .string(name)), ("id", .integer(id)), ("parent", .optional(parent)),
            ("objects", .integer(objects)),
        ])
    }
}

extension StoreInspection.TableCount {
    var record: JSONValue { .object([("name", .string(name)), ("rows", .integer(rows))]) }
}

extension StoreFence {
    var record: JSONValue {
        .object([("tx", .string(transaction)), ("new", .string(newPath)), ("triggers", .integer(Int64(triggerCount)))])
    }
}
