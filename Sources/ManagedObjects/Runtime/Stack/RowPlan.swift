internal import StoreAccess
internal import StoreFormat

/// How to read the rows of an entity's objects: the columns, and their meaning for each concrete entity.
struct RowPlan: Sendable {
    /// The decoder for one concrete entity.
    private struct Decoder {
        let family: ManagedObjectID.Family
        /// The column of each attribute; nil for an attribute without a column.
        let attributes: [(column: Int, decoder: AttributeDecoder)?]
        let toOnes: [ToOne?]
    }

    private struct ToOne {
        let column: Int
        let entityColumn: Int?
        let destination: ManagedObjectID.Family
    }

    let table: String
    /// The quoted columns in order, after key, entity number and version.
    let columns: [String]
    private let decoders: [Int64: Decoder]
    /// The decoder of a table's only entity, used for any entity number, because some rows have a wrong one.
    private let only: Decoder?
    private let families: ObjectIDFamilies

    /// Creates the plan for the objects of an entity, with or without its subentities.
    init(
        _ entity: StoreLayout.Entity,
        includingSubentities: Bool,
        layout: StoreLayout,
        model: ModelShape,
        families: ObjectIDFamilies
    ) throws {
        table = entity.table
        self.families = families
        var columns: [String] = []
        var positions: [String: Int] = [:]
        func position(_ column: String) -> Int {
            if let position = positions[column] { return position }
            columns.append(SQLName.quoted(column))
            positions[column] = columns.count + 2
            return columns.count + 2
        }
        var decoders: [Int64: Decoder] = [:]
        for concrete in layout.entities(inTable: entity.table) {
            let shape = try model.entity(concrete.name)
            guard concrete.name == entity.name || includingSubentities && shape.lineage.contains(entity.name) else {
                continue
            }
            decoders[concrete.number] = Decoder(
                family: families.family(of: shape),
                attributes: shape.attributes.map { attribute in
                    concrete.attribute(attribute.name).map { (position($0.column), AttributeDecoder(attribute)) }
                },
                toOnes: try shape.toOnes.map { relationship in
                    guard case .toOne(let key)? = concrete.relationship(relationship.name)?.storage else { return nil }
                    return ToOne(
                        column: position(key.column),
                        entityColumn: key.entityColumn.map(position),
                        destination: try families.family(of: model.entity(relationship.destination))
                    )
                }
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

    /// Decodes a row; nil for a row of an entity outside the plan.
    func snapshot(_ row: borrowing StoreRow, time: ContinuousClock.Instant) throws -> RowSnapshot? {
        guard let decoder = only ?? decoders[row.integer(1)] else { return nil }
        var attributes: [AttributeValue] = []
        attributes.reserveCapacity(decoder.attributes.count)
        for attribute in decoder.attributes {
            attributes.append(attribute.map { $0.decoder.value(row, $0.column) } ?? .null)
        }
        var toOnes: [ManagedObjectID?] = []
        toOnes.reserveCapacity(decoder.toOnes.count)
        for toOne in decoder.toOnes {
            guard let toOne, row.type(toOne.column) == .integer else {
                toOnes.append(nil)
                continue
            }
            let concrete = toOne.entityColumn.flatMap { families.family(numbered: row.integer($0)) }
            toOnes.append(ManagedObjectID(concrete ?? toOne.destination, primaryKey: row.integer(toOne.column)))
        }
        return RowSnapshot(
            id: ManagedObjectID(decoder.family, primaryKey: row.integer(0)),
            version: row.integer(2),
            attributes: attributes,
            toOnes: toOnes,
            time: time
        )
    }
}
