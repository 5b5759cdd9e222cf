import StoreFormat

/// What the writer asks of an entity again and again, looked up once.
final class EntityPlan {
    let entity: StoreLayout.Entity
    let attributes: [String: StoreLayout.Attribute]
    let relationships: [String: StoreLayout.Relationship]
    /// The names of the entity and of those that it inherits from.
    let kinds: Set<String>
    /// The attributes that an insertion writes; derived ones follow by themselves.
    let inserted: [StoreLayout.Attribute]
    private var insertions: [[String]: String] = [:]

    init(_ entity: StoreLayout.Entity, in model: ManagedObjectModel) {
        self.entity = entity
        attributes = Dictionary(
            entity.attributes.map { ($0.description.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        relationships = Dictionary(
            entity.relationships.map { ($0.description.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        kinds = Set(model.lineage(of: entity.name).map(\.name))
        inserted = entity.attributes.filter { !$0.description.isDerived }
    }

    /// The statement that inserts a row: the fixed columns, the attributes, then these columns of keys.
    func insertion(_ keyColumns: [String]) -> String {
        if let sql = insertions[keyColumns] { return sql }
        let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + inserted.map(\.column) + keyColumns
        let names = columns.map(SQLName.quoted).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let sql = "INSERT INTO \(SQLName.quoted(entity.table)) (\(names)) VALUES (\(places))"
        insertions[keyColumns] = sql
        return sql
    }
}
