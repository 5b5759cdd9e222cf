internal import StoreAccess
internal import StoreFormat

/// How to read the rows of an entity's objects: the columns, and their meaning for each concrete entity.
struct RowPlan: Sendable {
    /// The number of the column with the version, after key and entity number.
    private static let versionColumn = 2

    let table: String
    /// The quoted columns in order, after key, entity number and version.
    let columns: [String]
    private let decoders: [Int64: RowDecoder]
    /// The decoder of a table's only entity, used for any entity number, because some rows have a wrong one.
    private let only: RowDecoder?

    /// Creates the plan for the objects of an entity, with or without its subentities.
    init(
        _ entity: StoreLayout.Entity,
        includingSubentities: Bool,
        layout: StoreLayout,
        model: ModelShape,
        families: ObjectIDFamilies
    ) throws {
        table = entity.table
        var columns: [String] = []
        var positions: [String: Int] = [:]
        func position(_ column: String) -> Int {
            if let position = positions[column] { return position }
            columns.append(SQLName.quoted(column))
            positions[column] = columns.count + Self.versionColumn
            return columns.count + Self.versionColumn
        }
        var decoders: [Int64: RowDecoder] = [:]
        for concrete in layout.entities(inTable: entity.table) {
            let shape = try model.entity(concrete.name)
            guard concrete.name == entity.name || includingSubentities && shape.lineage.contains(entity.name) else {
                continue
            }
            var fields = [Self.versionColumn]
            func field(_ column: String) -> Int {
                fields.append(position(column))
                return fields.count - 1
            }
            let attributes = shape.attributes.map { attribute in
                concrete.attribute(attribute.name).map { (field($0.column), AttributeDecoder(attribute)) }
            }
            let toOnes: [RowDecoder.ToOne?] = try shape.toOnes.map { relationship in
                guard case .toOne(let key)? = concrete.relationship(relationship.name)?.storage else { return nil }
                return RowDecoder.ToOne(
                    field: field(key.column),
                    entityField: key.entityColumn.map(field),
                    destination: try families.family(of: model.entity(relationship.destination))
                )
            }
            decoders[concrete.number] = RowDecoder(
                families.family(of: shape),
                columns: fields,
                attributes: attributes,
                toOnes: toOnes,
                families: families
            )
        }
        self.columns = columns
        self.decoders = decoders
        only = layout.soleEntity(inTable: entity.table) == nil ? nil : decoders[entity.number]
    }

    /// The condition for the rows of the plan's entities.
    func condition(alias: String) -> String {
        only != nil ? "1" : "\(alias).Z_ENT IN (\(decoders.keys.sorted().map(String.init).joined(separator: ",")))"
    }

    /// The columns of a SELECT, each qualified by the table's alias.
    func selection(alias: String) -> String {
        (["Z_PK", "Z_ENT", "Z_OPT"].map(SQLName.quoted) + columns).map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    /// Copies a row; nil for a row of an entity outside the plan.
    func snapshot(_ row: borrowing StoreRow, time: ContinuousClock.Instant) throws -> RowSnapshot? {
        guard let decoder = only ?? decoders[row.integer(1)] else { return nil }
        return RowSnapshot(
            id: ManagedObjectID(decoder.family, primaryKey: row.integer(0)),
            PackedRow(row, decoder.columns),
            decoder,
            time: time
        )
    }
}
