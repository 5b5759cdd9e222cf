import StoreAccess
import StoreFormat
import StoreWriting

/// The SQL that makes the rows of one target table from those of its source table, alias `s`.
struct RowMapping {
    let plan: MigrationPlan
    /// The target's table, as it is spelled there.
    let table: String
    let sourceTable: String
    /// The entities with rows, each with its source.
    let pairs: [(source: StoreLayout.Entity, target: StoreLayout.Entity)]
    private(set) var columns: [(name: String, expression: String)] = []
    private(set) var arguments = SQLArguments()
    /// The statements that return a row if the data forbid the migration, with the refusal.
    private(set) var ambiguities: [(sql: String, refusal: MappingRefusal)] = []

    init?(_ plan: MigrationPlan, table: String) {
        guard let sourceTable = plan.sourceTable(of: table) else { return nil }
        (self.plan, self.table, self.sourceTable) = (plan, table, sourceTable)
        pairs = plan.pairs(fromTable: sourceTable).filter { $0.target.table == table }
        columns = [("Z_PK", "s.Z_PK"), ("Z_ENT", entityNumber), ("Z_OPT", "s.Z_OPT")]
        addAttributes()
        addKeys()
        addHiddenKeys()
    }

    /// A table that stores one entity stores only its objects: some genuine rows have another number.
    private var entityNumber: String {
        let entities = plan.source.layout.entities(inTable: sourceTable)
        if entities.count == 1, let pair = pairs.first {
            return pair.source.number == pair.target.number ? "s.Z_ENT" : String(pair.target.number)
        }
        return plan.renumbered("s.Z_ENT", inTable: sourceTable)
    }

    /// The condition that selects the rows of this table; nil for all rows.
    var condition: String? {
        let entities = plan.source.layout.entities(inTable: sourceTable).filter { !$0.isAbstract }
        let kept = pairs.filter { !$0.source.isAbstract }
        guard entities.count != kept.count else { return nil }
        return "s.Z_ENT IN (\(kept.map { String($0.source.number) }.joined(separator: ", ")))"
    }

    /// One expression for the rows of all entities: the same for each, or a case for each number.
    private func combined(_ expressions: [(number: Int64, expression: String)]) -> String {
        let distinct = Set(expressions.map(\.expression))
        let isForAll = expressions.count == pairs.count
        if distinct.isEmpty || distinct == ["NULL"] { return "NULL" }
        if distinct.count == 1, let only = distinct.first, isForAll || only.hasPrefix("s.") { return only }
        let cases = expressions.filter { $0.expression != "NULL" }.map { "WHEN \($0.number) THEN \($0.expression)" }
        return "CASE s.Z_ENT \(cases.joined(separator: " ")) END"
    }

    // MARK: Attributes

    private mutating func addAttributes() {
        var seen: Set<String> = []
        for entity in plan.layout.entities(inTable: table) {
            for attribute in entity.attributes where seen.insert(attribute.column).inserted {
                var expressions: [(Int64, String)] = []
                for pair in pairs where pair.target.attribute(attribute.description.name)?.column == attribute.column {
                    expressions.append((pair.source.number, value(of: attribute.description, pair)))
                }
                columns.append((attribute.column, combined(expressions)))
            }
        }
    }

    /// The value of an attribute in the rows of one entity.
    mutating func value(
        of attribute: AttributeDescription,
        _ pair: (source: StoreLayout.Entity, target: StoreLayout.Entity)
    ) -> String {
        let former = plan.mapping.entity(pair.target.name)?.attribute(attribute.name)?.source
            .flatMap { pair.source.attribute($0.name) }
        guard let former else { return attribute.isDerived ? "NULL" : initialValue(of: attribute) }
        let column = "s." + SQLName.quoted(former.column)
        if attribute.isDerived {
            // Values are computed again unless the derivation is the same.
            let isSame = former.description.derivationExpression == attribute.derivationExpression
            return isSame && former.description.isDerived ? column : "NULL"
        }
        var value = column
        // References to files stay until the files are written into their rows.
        if former.description.allowsExternalBinaryDataStorage, !attribute.allowsExternalBinaryDataStorage {
            value = "CASE WHEN substr(\(column), 1, 1) = x'01' THEN substr(\(column), 2) ELSE \(column) END"
        }
        if !former.description.allowsExternalBinaryDataStorage, attribute.allowsExternalBinaryDataStorage {
            value = "CASE WHEN \(column) NOT NULL THEN CAST(x'01' || \(column) AS BLOB) END"
        }
        guard !attribute.isOptional, former.description.isOptional else { return value }
        let initial = initialValue(of: attribute)
        return initial == "NULL" ? value : "ifnull(\(value), \(initial))"
    }

    private mutating func initialValue(of attribute: AttributeDescription) -> String {
        arguments.parameter(attribute.initialValue.stored(for: attribute) ?? .null)
    }

    // MARK: Keys

    private mutating func addKeys() {
        var seen: Set<String> = []
        for entity in plan.layout.entities(inTable: table) {
            for relationship in entity.relationships {
                guard case .toOne(let key) = relationship.storage, seen.insert(key.column).inserted else { continue }
                var sources: [(Int64, ReferenceSource?)] = []
                for pair in pairs where pair.target.relationship(relationship.description.name)?.storage == .toOne(key)
                {
                    let mapped = plan.mapping.entity(pair.target.name)?.relationship(relationship.description.name)
                    let reference = mapped.flatMap { plan.reference($0, of: pair.target.name) }
                    sources.append((pair.source.number, reference))
                    note(reference, entity.name, relationship.description.name)
                }
                add(key, sources)
            }
        }
    }

    private mutating func addHiddenKeys() {
        for hidden in plan.hiddenRelationships[table] ?? [] {
            let name = hidden.description.name
            let sources =
                pairs.filter { plan.targetHierarchy.isEntity($0.target.name, kindOf: hidden.description.destination) }
                .map { pair in
                    (pair.source.number, plan.hiddenReference(name, of: hidden.owner.name, into: pair.target.name))
                }
            for (_, reference) in sources { note(reference, hidden.owner.name, name) }
            add(hidden.key, sources)
        }
    }

    private mutating func add(_ key: StoreLayout.ForeignKey, _ sources: [(Int64, ReferenceSource?)]) {
        columns.append((key.column, combined(sources.map { ($0, $1.map(self.key) ?? "NULL") })))
        if let column = key.entityColumn {
            columns.append((column, combined(sources.map { ($0, $1.map(entity) ?? "NULL") })))
        }
        if let column = key.orderColumn {
            columns.append((column, combined(sources.map { ($0, $1.map(order) ?? "NULL") })))
        }
    }

    private func key(_ reference: ReferenceSource) -> String {
        guard let condition = plan.survival(of: reference) else { return reference.key }
        return "CASE WHEN \(condition) THEN \(reference.key) END"
    }

    private func entity(_ reference: ReferenceSource) -> String {
        let table = SQLName.quoted(reference.destinationTable)
        let former = reference.entity ?? "(SELECT d.Z_ENT FROM \(table) d WHERE d.Z_PK = \(reference.key))"
        let number = plan.renumbered(former, inTable: reference.destinationTable)
        guard let condition = plan.survival(of: reference) else { return number }
        return "CASE WHEN \(condition) THEN \(number) END"
    }

    /// New order keys leave room between two members, as Core Data does.
    private func order(_ reference: ReferenceSource) -> String {
        let order =
            reference.order ?? "row_number() OVER (PARTITION BY \(reference.key) ORDER BY s.Z_PK) * 1024"
        return "CASE WHEN \(plan.survival(of: reference) ?? "\(reference.key) NOT NULL") THEN \(order) END"
    }

    private mutating func note(_ reference: ReferenceSource?, _ entity: String, _ relationship: String) {
        guard let sql = reference?.ambiguity else { return }
        let refusal = MappingRefusal(
            .severalDestinations,
            entity: entity,
            property: relationship,
            "several objects refer to one object, and the relationship permits one only",
            remedy: "Make the relationship to-many, or separate the objects with the app of the former version."
        )
        ambiguities.append((sql, refusal))
    }

    // MARK: Statements

    /// True if existing rows may stay in their table, to which only columns without values are added.
    var addsNullsOnly: Bool { inPlace.map { $0.renames.isEmpty && $0.updates.isEmpty } ?? false }

    /// The changes of a table whose rows stay where they are.
    struct InPlaceChange {
        var renames: [(from: String, to: String)] = []
        var additions: [String] = []
        /// The columns that get a value, and a condition on the rows.
        var updates: [(column: String, value: String, condition: String)] = []
    }

    /// The changes that let the rows stay in their table; nil if the table must be copied.
    var inPlace: InPlaceChange? {
        guard sourceTable.uppercased() == table.uppercased(), condition == nil else { return nil }
        var change = InPlaceChange()
        let wanted = Set(columns.map { $0.name.uppercased() })
        var renamed: Set<String> = []
        let plain = Dictionary(
            (plan.source.schema.table(named: sourceTable)?.columns ?? [])
                .map { ("s." + SQLName.quoted($0.name), $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        for (name, expression) in columns {
            let quoted = SQLName.quoted(name)
            if let existing = existingColumn(name) {
                let same = "s." + SQLName.quoted(existing.name)
                if expression == same || expression == "s." + name { continue }
                let filling = "ifnull(\(same), "
                guard expression.hasPrefix(filling), expression.hasSuffix(")") else { return nil }
                let value = String(expression.dropFirst(filling.count).dropLast())
                change.updates.append((quoted, value, " WHERE \(quoted) IS NULL"))
            } else if let former = plain[expression] {
                // A column that a different property needs under its former name cannot be renamed.
                guard !wanted.contains(former.uppercased()), renamed.insert(former.uppercased()).inserted else {
                    return nil
                }
                change.renames.append((former, name))
            } else if expression == "NULL" {
                change.additions.append(name)
            } else if !expression.contains("s.\"") && !expression.contains("SELECT") {
                change.additions.append(name)
                change.updates.append((quoted, expression, ""))
            } else {
                return nil
            }
        }
        return renamed.isSuperset(of: droppedColumns) ? change : nil
    }

    private func existingColumn(_ name: String) -> StoreSchema.Column? {
        plan.source.schema.table(named: sourceTable)?.column(named: name)
    }

    /// The columns of the source's model that the target lacks.
    private var droppedColumns: [String] {
        let kept = Set(columns.map { $0.name.uppercased() })
        return plan.knownColumns(of: sourceTable).filter { !kept.contains($0) }
    }

    /// The columns of a table of the source that its model does not describe.
    static func ownColumns(of sourceTable: String, in plan: MigrationPlan) -> [StoreSchema.Column] {
        let known = plan.knownColumns(of: sourceTable).union(["Z_PK", "Z_ENT", "Z_OPT"])
        return (plan.source.schema.table(named: sourceTable)?.columns ?? [])
            .filter { !known.contains($0.name.uppercased()) }
    }

    /// The columns outside the source's model that have the name of one of the target's.
    var clashingColumns: [String] {
        let wanted = Set(columns.map { $0.name.uppercased() })
        return Self.ownColumns(of: sourceTable, in: plan).map(\.name).filter { wanted.contains($0.uppercased()) }
    }

    /// The columns outside the source's model, which a new table keeps.
    var unknownColumns: [StoreSchema.Column] {
        let known = plan.knownColumns(of: sourceTable).union(["Z_PK", "Z_ENT", "Z_OPT"])
            .union(columns.map { $0.name.uppercased() })
        return (plan.source.schema.table(named: sourceTable)?.columns ?? [])
            .filter { !$0.isGenerated && !known.contains($0.name.uppercased()) }
    }

    /// The statement that copies the rows into the table `name`, which has the columns of the target.
    func insertion(into name: String) -> String {
        let unknown = unknownColumns.map { ($0.name, "s." + SQLName.quoted($0.name)) }
        let all = columns.map { ($0.name, $0.expression) } + unknown
        let names = all.map { SQLName.quoted($0.0) }.joined(separator: ", ")
        let values = all.map(\.1).joined(separator: ", ")
        let rows = condition.map { " WHERE " + $0 } ?? ""
        return "INSERT INTO \(SQLName.quoted(name)) (\(names)) SELECT \(values) "
            + "FROM \(SQLName.quoted(sourceTable)) s\(rows) ORDER BY s.Z_PK"
    }
}

extension StoreLayout.ForeignKey {
    /// The key's columns that exist.
    var all: [String] { [column, entityColumn, orderColumn].compactMap(\.self) }
}

/// Values that statements bind, and the SQL that refers to them.
struct SQLArguments {
    private(set) var values: [SQLValue] = []

    /// Adds a value and returns its numbered parameter.
    mutating func parameter(_ value: SQLValue) -> String {
        if case .null = value { return "NULL" }
        if let position = values.firstIndex(of: value) { return "?\(position + 1)" }
        values.append(value)
        return "?\(values.count)"
    }
}

/// Where the references of one relationship are in the source, as SQL over the row `s` that will contain the key.
struct ReferenceSource: Hashable {
    /// The destination's primary key.
    let key: String
    /// The destination's entity number in the source; nil if no column has it.
    let entity: String?
    /// The order key among the rows with the same reference; nil if the source has no order.
    let order: String?
    /// The table of the destination's rows.
    let destinationTable: String
    /// The numbers of the source entities whose objects the relationship cannot refer to any more.
    let lost: [Int64]
    /// A statement that returns a row if one object has several destinations; nil if the form permits one only.
    let ambiguity: String?
}
