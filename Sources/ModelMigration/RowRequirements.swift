import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// Finds the rows that forbid a migration; it only reads.
struct RowRequirements {
    let plan: MigrationPlan
    let connection: StoreConnection
    private var refusals: [MappingRefusal] = []

    init(_ plan: MigrationPlan, _ connection: StoreConnection) {
        (self.plan, self.connection) = (plan, connection)
    }

    /// Returns every refusal; `external` is the folder of the store's external files.
    mutating func run(_ external: Directory?) throws -> [MappingRefusal] {
        try checkDefinitions()
        checkTables()
        try checkExternalFiles(external)
        try checkEntityNumbers()
        for table in plan.shape.tables where table.joinKey == nil {
            guard let mapping = RowMapping(plan, table: table.name) else { continue }
            for (sql, refusal) in mapping.ambiguities where try exists(sql) && !refusals.contains(refusal) {
                refusals.append(refusal)
            }
        }
        for requirement in plan.mapping.requirements { try check(requirement) }
        return refusals
    }

    private func exists(_ sql: String, _ arguments: [SQLValue] = []) throws -> Bool {
        try connection.value(sql, arguments) != nil
    }

    /// Definitions of an app, and tables of CloudKit, that the migration cannot adapt.
    private mutating func checkDefinitions() throws {
        for loss in try OwnDefinitions(plan, connection).losses() {
            refusals.append(
                MappingRefusal(.unsupportedDefinition, loss, remedy: "Migrate the store with its app.")
            )
        }
        guard !plan.keepsNumbers, plan.source.schema.tables.contains(where: { $0.name.uppercased().hasPrefix("ANSCK") })
        else { return }
        refusals.append(
            MappingRefusal(
                .cloudMirror,
                "CloudKit's tables refer to entities by numbers that change",
                remedy: "Migrate the store with its app."
            )
        )
    }

    /// SQLite's limit of columns, and names that a migration needs for a time.
    private mutating func checkTables() {
        for table in plan.shape.tables where table.columns.count > Self.mostColumns {
            refusals.append(
                MappingRefusal(
                    .invalidModel,
                    "the table \(table.name) would have \(table.columns.count) columns, and SQLite permits"
                        + " \(Self.mostColumns)",
                    remedy: "Move attributes to another entity."
                )
            )
        }
        for table in plan.source.schema.tables where table.name.hasPrefix(TableRewriting.interimPrefix) {
            refusals.append(
                MappingRefusal(
                    .unsupportedDefinition,
                    "the table \(table.name) has a name that the migration needs",
                    remedy: "Rename the table."
                )
            )
        }
    }

    private static let mostColumns = 2000

    /// The files of values that move into their rows.
    private mutating func checkExternalFiles(_ external: Directory?) throws {
        for entity in plan.mapping.entities {
            guard let former = entity.source.flatMap({ plan.source.layout.entities[$0] }) else { continue }
            for attribute in entity.attributes where attribute.movesIntoRows {
                guard let name = attribute.source?.name, let column = former.attribute(name)?.column else { continue }
                let quoted = SQLName.quoted(column)
                var isMissing = false
                try connection.forEachRow(
                    "SELECT substr(\(quoted), 2, 36) FROM \(SQLName.quoted(former.table)) "
                        + "WHERE substr(\(quoted), 1, 1) = x'02' AND length(\(quoted)) = 38",
                    []
                ) { row in
                    let file = row.withBytes(0) { String(decoding: $0, as: UTF8.self) }
                    if try external?.status(of: file)?.kind != .regular { isMissing = true }
                }
                guard isMissing else { continue }
                refusals.append(
                    MappingRefusal(
                        .missingExternalFile,
                        entity: entity.target,
                        property: attribute.target.name,
                        "external files of its values are missing, and the values move into their rows",
                        remedy: "Restore the files from a backup; verify names them."
                    )
                )
            }
        }
    }

    private mutating func checkEntityNumbers() throws {
        for (table, entities) in Dictionary(grouping: plan.source.layout.entities.values, by: \.table)
            .sorted(by: { $0.key < $1.key })
        where entities.count > 1 {
            let numbers = entities.map { String($0.number) }.joined(separator: ", ")
            guard
                try exists("SELECT 1 FROM \(SQLName.quoted(table)) WHERE ifnull(Z_ENT, 0) NOT IN (\(numbers)) LIMIT 1")
            else { continue }
            refusals.append(
                MappingRefusal(
                    .unknownEntityNumber,
                    entity: entities[0].root,
                    "a row of \(table) has an entity number that the model lacks",
                    remedy: "Examine the store with verify."
                )
            )
        }
    }

    private mutating func check(_ requirement: InferredMapping.Requirement) throws {
        switch requirement {
        case .value(let entity, let attribute): try checkValue(entity, attribute)
        case .destination(let entity, let relationship): try checkDestination(entity, relationship)
        case .uniqueValues(let entity, let properties): try checkUniqueness(entity, properties)
        }
    }

    /// The rows of one target entity, and the expressions of its columns.
    private func rows(of entity: String) -> (mapping: RowMapping, condition: String)? {
        guard let target = plan.layout.entities[entity], let mapping = RowMapping(plan, table: target.table) else {
            return nil
        }
        let entities = mapping.pairs.filter { plan.targetHierarchy.isEntity($0.target.name, kindOf: entity) }
        guard !entities.isEmpty else { return nil }
        let isAll = entities.count == plan.source.layout.entities(inTable: mapping.sourceTable).count
        let numbers = entities.map { String($0.source.number) }.joined(separator: ", ")
        return (mapping, isAll ? "1" : "s.Z_ENT IN (\(numbers))")
    }

    private mutating func checkValue(_ entity: String, _ attribute: String) throws {
        guard let rows = rows(of: entity), let column = plan.layout.entities[entity]?.attribute(attribute)?.column,
            let expression = rows.mapping.columns.first(where: { $0.name == column })?.expression,
            try exists(statement(rows, "(\(expression)) IS NULL LIMIT 1"), rows.mapping.arguments(in: expression))
        else { return }
        refusals.append(
            MappingRefusal(
                .mandatoryAttribute,
                entity: entity,
                property: attribute,
                "objects have no value of this mandatory attribute, and it has no default",
                remedy: "Give the attribute a default, or make it optional."
            )
        )
    }

    private mutating func checkDestination(_ entity: String, _ relationship: String) throws {
        guard let rows = rows(of: entity), let stored = plan.layout.entities[entity]?.relationship(relationship) else {
            return
        }
        var condition = "1 LIMIT 1"
        if case .toOne(let key) = stored.storage,
            let expression = rows.mapping.columns.first(where: { $0.name == key.column })?.expression
        {
            condition = "(\(expression)) IS NULL LIMIT 1"
        } else if plan.mapping.entity(entity)?.relationship(relationship)?.source != nil {
            // The members of an existing to-many relationship stay.
            return
        }
        guard try exists(statement(rows, condition)) else { return }
        refusals.append(
            MappingRefusal(
                .mandatoryRelationship,
                entity: entity,
                property: relationship,
                "objects have no destination of this mandatory relationship",
                remedy: "Make the relationship optional."
            )
        )
    }

    private mutating func checkUniqueness(_ entity: String, _ properties: [String]) throws {
        guard let rows = rows(of: entity), let target = plan.layout.entities[entity] else { return }
        let expressions = properties.compactMap { name -> String? in
            var column = target.attribute(name)?.column
            if column == nil, case .toOne(let key)? = target.relationship(name)?.storage { column = key.column }
            return rows.mapping.columns.first { $0.name == column }?.expression
        }
        guard expressions.count == properties.count, !expressions.isEmpty else { return }
        let values = expressions.enumerated().map { "\($1) AS c\($0)" }.joined(separator: ", ")
        let names = expressions.indices.map { "c\($0)" }
        let sql =
            "SELECT 1 FROM (SELECT \(values) FROM \(SQLName.quoted(rows.mapping.sourceTable)) s WHERE \(rows.condition)) "
            + "WHERE \(names.map { $0 + " NOT NULL" }.joined(separator: " AND ")) "
            + "GROUP BY \(names.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1"
        guard try exists(sql, rows.mapping.arguments(in: values)) else { return }
        refusals.append(
            MappingRefusal(
                .uniquenessConstraint,
                entity: entity,
                property: properties.joined(separator: ", "),
                "two objects have the same values, and the target's uniqueness constraint forbids it",
                remedy: "Remove the duplicates with the app of the former version."
            )
        )
    }

    private func statement(_ rows: (mapping: RowMapping, condition: String), _ condition: String) -> String {
        "SELECT 1 FROM \(SQLName.quoted(rows.mapping.sourceTable)) s WHERE \(rows.condition) AND \(condition)"
    }
}

extension RowMapping {
    /// The values that a part of the mapping binds; numbered parameters need all before the last one.
    func arguments(in expression: String) -> [SQLValue] {
        let numbers = expression.split(separator: "?", omittingEmptySubsequences: false).dropFirst()
            .compactMap { Int($0.prefix { $0.isNumber }) }
        return Array(arguments.values.prefix(numbers.max() ?? 0))
    }
}
