import StoreAccess
import StoreFormat
import StoreWriting

/// The store that is migrated, as it is before: its model, tables, numbers and metadata.
struct SourceStore {
    let model: ManagedObjectModel
    let layout: StoreLayout
    let schema: StoreSchema
    let numbers: EntityNumbers
    let metadata: StoreMetadata

    /// Reads the store; throws if its model is unknown, or if its tables do not have the model's form.
    init(_ connection: StoreConnection, target: MigrationTarget) throws {
        let path = connection.location.path
        guard let metadata = try StoreMetadata(reading: connection), !metadata.values.isEmpty,
            let numbers = try EntityNumbers(reading: connection)
        else { throw StoreError(.incompatible, path: path, "this is not a Core Data store with metadata") }
        self.metadata = metadata
        model = try Self.model(of: connection, metadata, target)
        self.numbers = numbers.named(by: model)
        schema = try StoreSchema(reading: connection)
        layout = StoreLayout(model: model, schema: schema, entityNumbers: self.numbers)
        guard let missing = layout.unresolved.first else { return }
        let subject = [missing.entity, missing.property].compactMap(\.self).joined(separator: ".")
        throw StoreError(
            .incompatible,
            path: path,
            "the store's tables do not fit its model: \(subject): \(missing.reason)"
        )
    }

    /// The model in the store; in an older store, the version of the target's folder with the store's hashes.
    private static func model(
        of connection: StoreConnection,
        _ metadata: StoreMetadata,
        _ target: MigrationTarget
    ) throws -> ManagedObjectModel {
        if let model = try ManagedObjectModel(cachedIn: connection) { return model }
        let hashes = metadata.entityVersionHashes
        if !hashes.isEmpty, hashes == target.entityVersionHashes { return target.model }
        if !hashes.isEmpty, let version = target.otherVersions.first(where: { $0.value == hashes })?.key {
            return try ModelFile(path: target.path, version: version).model
        }
        throw StoreError(
            .incompatible,
            path: connection.location.path,
            "the store keeps no copy of its model, and no version in \(target.path) has its hashes "
                + "(NSMigrationMissingSourceModelError 134130)"
        )
    }

    /// The entities whose rows a table stores, without abstract ones.
    func entities(inTable table: String) -> [StoreLayout.Entity] { layout.entities(inTable: table) }
}

extension StoreShape {
    /// The layout of a new store with this shape.
    func layout(keeping other: EntityNumbers) -> StoreLayout {
        StoreLayout(
            model: model,
            schema: StoreSchema(
                tables: tables.map { table in
                    StoreSchema.Table(
                        name: table.name,
                        kind: .ordinary,
                        columns: table.columns.map {
                            StoreSchema.Column(
                                name: $0.name,
                                declaredType: $0.type.replacing(" PRIMARY KEY", with: "")
                            )
                        }
                    )
                }
            ),
            entityNumbers: EntityNumbers(entries(keeping: other))
        )
    }

    /// The rows of `Z_PRIMARYKEY`, with those of history and mirror of `other`; the greatest keys are 0.
    func entries(keeping other: EntityNumbers) -> [EntityNumbers.Entry] {
        numbering.names.enumerated()
            .map { position, name in
                EntityNumbers.Entry(
                    number: Int64(position) + 1,
                    name: name,
                    parent: model.entitiesByName[name]?.superentity.flatMap { numbering.number(of: $0) } ?? 0
                )
            } + other.entries.filter { !$0.isOfModel }
    }
}
