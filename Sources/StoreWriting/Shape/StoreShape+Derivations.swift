import StoreFormat

extension StoreShape {
    /// A trigger that maintains the value of a derived attribute.
    package struct Trigger: Hashable, Sendable {
        package let name: String
        package let sql: String
    }

    /// A derived attribute and its column.
    private struct Derived {
        let entity: String
        let attribute: String
        let table: String
        let column: String

        func value(_ table: String, _ condition: String, isInsertion: Bool) -> String {
            let function = isInsertion ? "InsertUpdatedAffectedObjectValue" : "UpdatedAffectedObjectValue"
            return "SELECT NSCoreDataDATrigger\(function)('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) "
                + "FROM \(table) WHERE \(condition);"
        }
    }

    /// Adds the triggers of the derived attributes (COREDATA §1.6), as genuine stores have them.
    ///
    /// They count the destinations of a one-to-many, or follow an attribute through a to-one. No other form was
    /// observed in a genuine store; an attribute with another derivation is listed in ``unmaintained``.
    mutating func addTriggers() {
        for name in numbering.names {
            for attribute in (model.entitiesByName[name]?.attributes ?? []).inByteOrder
            where attribute.isDerived && !attribute.isTransient {
                let known = triggers(of: attribute, declaredBy: name)
                triggers += known
                if known.isEmpty { unmaintained.append("\(name).\(attribute.name)") }
            }
        }
    }

    private func triggers(of attribute: AttributeDescription, declaredBy entity: String) -> [Trigger] {
        // Genuine triggers contain only plain identifiers; other names are not put into one.
        guard let root = numbering.root(of: entity), let expression = attribute.derivationExpression,
            let column = columnNames[.attribute(entity: entity, name: attribute.name)],
            [root, entity, attribute.name].allSatisfy({ Self.identifier($0) == $0 })
        else { return [] }
        let derived = Derived(
            entity: entity,
            attribute: attribute.name,
            table: "Z" + root.uppercased(),
            column: column
        )
        let path = expression.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard path.count == 2 else { return [] }
        return path[1] == "@count" ? count(of: path[0], derived) : follow(path[0], path[1], derived)
    }

    private func count(of name: String, _ derived: Derived) -> [Trigger] {
        guard let relationship = model.relationship(name, of: derived.entity)?.relationship, relationship.isToMany,
            let inverse = inverse(of: relationship), !inverse.isToMany,
            let root = numbering.root(of: relationship.destination),
            let key = columnNames[
                .key(entity: declaringEntity(of: inverse.name, from: relationship.destination), name: inverse.name)
            ], Self.identifier(root) == root, Self.identifier(key) == key
        else { return [] }
        let (table, column, other) = (derived.table, derived.column, "Z" + root.uppercased())
        func parameter(_ event: String, _ suffix: String, _ row: String, _ value: String) -> Trigger {
            trigger(
                "AFTER \(event) ON \(other) FOR EACH ROW WHEN (\(row).\(key) NOT NULL)",
                "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(key); "
                    + derived.value(table, "Z_PK = \(row).\(key)", isInsertion: false),
                other,
                "PARAMETER_\(suffix)",
                derived
            )
        }
        return [
            parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1"),
            parameter("UPDATE OF \(key)", "UPDATE_INCREMENT", "NEW", "\(column) + 1"),
            parameter("UPDATE OF \(key)", "UPDATE_DECREMENT", "OLD", "\(column) - 1"),
            parameter("DELETE", "DELETE", "OLD", "\(column) - 1"),
            source(
                "INSERT",
                "INSERT",
                "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(other) WHERE \(key) = NEW.Z_PK)",
                derived
            ),
        ]
    }

    private func follow(_ name: String, _ attribute: String, _ derived: Derived) -> [Trigger] {
        guard let (declaredBy, relationship) = model.relationship(name, of: derived.entity), !relationship.isToMany,
            let key = columnNames[.key(entity: declaredBy, name: name)],
            let root = numbering.root(of: relationship.destination),
            let owner = model.lineage(of: relationship.destination)
                .first(where: { $0.attributes.contains { $0.name == attribute } }),
            let value = columnNames[.attribute(entity: owner.name, name: attribute)],
            [root, key, value].allSatisfy({ Self.identifier($0) == $0 })
        else { return [] }
        let (table, column, other) = (derived.table, derived.column, "Z" + root.uppercased())
        let stored = "(SELECT \(value) FROM \(other) WHERE Z_PK = NEW.\(key))"
        func parameter(_ event: String, _ suffix: String) -> Trigger {
            trigger(
                "AFTER \(event) ON \(other) FOR EACH ROW",
                "UPDATE \(table) SET \(column) = NEW.\(value) WHERE \(key) = NEW.Z_PK; "
                    + derived.value(table, "\(key) = NEW.Z_PK", isInsertion: suffix == "INSERT"),
                other,
                "PARAMETER_\(suffix)",
                derived
            )
        }
        return [
            source("INSERT", "INSERT", stored, derived), source("UPDATE OF \(key)", "UPDATE", stored, derived),
            parameter("INSERT", "INSERT"), parameter("UPDATE OF \(value)", "UPDATE"),
        ]
    }

    private func source(_ event: String, _ suffix: String, _ value: String, _ derived: Derived) -> Trigger {
        // Rows of other entities of the table have no such value.
        let entities = numbering.subtree(of: derived.entity).map { String(number(of: $0)) }
        let isRoot = numbering.root(of: derived.entity) == derived.entity
        let condition = isRoot ? "" : " WHEN (NEW.Z_ENT IN (\(entities.joined(separator: ", "))))"
        return trigger(
            "AFTER \(event) ON \(derived.table) FOR EACH ROW\(condition)",
            "UPDATE \(derived.table) SET \(derived.column) = \(value) WHERE Z_PK = NEW.Z_PK; "
                + derived.value(derived.table, "Z_PK = NEW.Z_PK", isInsertion: suffix == "INSERT"),
            derived.table,
            "SOURCE_\(suffix)",
            derived
        )
    }

    private func trigger(
        _ event: String,
        _ body: String,
        _ table: String,
        _ suffix: String,
        _ derived: Derived
    ) -> Trigger {
        let name = "Z_DA_\(table)_\(derived.entity)_\(derived.attribute)_\(suffix)"
        return Trigger(name: name, sql: "CREATE TRIGGER \(name) \(event) BEGIN \(body) END")
    }
}
