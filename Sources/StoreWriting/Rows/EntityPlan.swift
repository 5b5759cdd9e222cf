import StoreAccess
import StoreFormat

/// Facts about an entity that the writer needs for every row, computed once.
final class EntityPlan {
    let entity: StoreLayout.Entity
    let attributes: [String: StoreLayout.Attribute]
    let relationships: [String: StoreLayout.Relationship]
    /// The names of the entity and its ancestors.
    let kinds: Set<String>
    /// The attributes that an insertion writes; triggers compute the derived ones.
    let inserted: [StoreLayout.Attribute]
    /// The encoders of these attributes.
    let encoders: [AttributeEncoder]
    /// Columns that the model does not know.
    let unknownColumns: [StoreLayout.Attribute]
    /// The to-one relationships without an inverse that may refer to objects of this entity.
    let waysWithoutReturn: [WayWithoutReturn]
    /// The condition that selects the row of a key.
    let rowCondition: String
    private var insertions: [[String]: String] = [:]
    private var plainInsertion: String?

    /// A to-one relationship without an inverse, and its columns.
    struct WayWithoutReturn {
        let declaredBy: String
        let relationship: String
        let destination: String
        let table: String
        let column: String
    }

    init(_ entity: StoreLayout.Entity, in layout: StoreLayout) {
        self.entity = entity
        attributes = Dictionary(
            entity.attributes.map { ($0.description.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        relationships = Dictionary(
            entity.relationships.map { ($0.description.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let kinds = Set(layout.model.lineage(of: entity.name).map(\.name))
        self.kinds = kinds
        waysWithoutReturn = layout.entities.values.sorted { $0.number < $1.number }
            .flatMap { owner in
                owner.relationships.compactMap { relationship in
                    guard relationship.declaredBy == owner.name, relationship.description.inverse == nil,
                        kinds.contains(relationship.description.destination),
                        case .toOne(let key) = relationship.storage
                    else { return nil }
                    return WayWithoutReturn(
                        declaredBy: owner.name,
                        relationship: relationship.description.name,
                        destination: relationship.description.destination,
                        table: owner.table,
                        column: key.column
                    )
                }
            }
        rowCondition =
            layout.soleEntity(inTable: entity.table) != nil ? "Z_PK = ?" : "Z_PK = ? AND Z_ENT = \(entity.number)"
        inserted = entity.attributes.filter { !$0.description.isDerived && !$0.isUnknown }
        unknownColumns = entity.attributes.filter(\.isUnknown)
        encoders = inserted.map { AttributeEncoder($0.description, of: entity.name) }
    }

    /// The statement that inserts a row: the fixed columns, the attributes, then these key columns.
    func insertion(_ keyColumns: [String]) -> String {
        if keyColumns.isEmpty, let plainInsertion { return plainInsertion }
        if let sql = insertions[keyColumns] { return sql }
        let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + inserted.map(\.column) + keyColumns
        let names = columns.map(SQLName.quoted).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let sql = "INSERT INTO \(SQLName.quoted(entity.table)) (\(names)) VALUES (\(places))"
        insertions[keyColumns] = sql
        if keyColumns.isEmpty { plainInsertion = sql }
        return sql
    }
}
