import StoreAccess
import StoreFormat

/// Computes the values of derived attributes that are new or derived differently, as their triggers would.
///
/// Counts of a one-to-many, and attributes through a to-one; other expressions stay without a value until Core Data
/// saves the object.
struct DerivedValues {
    private let plan: MigrationPlan
    private let layout: StoreLayout
    private let connection: StoreConnection

    init(_ plan: MigrationPlan, _ layout: StoreLayout, _ connection: StoreConnection) {
        (self.plan, self.layout, self.connection) = (plan, layout, connection)
    }

    func write() throws {
        for entity in plan.mapping.entities where entity.source != nil {
            for attribute in entity.attributes where attribute.target.isDerived {
                let former = attribute.source
                let isSame =
                    former?.isDerived == true
                    && former?.derivationExpression == attribute.target.derivationExpression
                guard !isSame, let stored = layout.entities[entity.target],
                    let column = stored.attribute(attribute.target.name)?.column,
                    let value = value(attribute.target.derivationExpression, stored)
                else { continue }
                // A table of one entity may have rows with another number.
                let isOnly = layout.entities(inTable: stored.table).count == 1
                try connection.run(
                    "UPDATE \(SQLName.quoted(stored.table)) AS s SET \(SQLName.quoted(column)) = \(value)"
                        + (isOnly ? "" : " WHERE Z_ENT = \(stored.number)"),
                    []
                )
            }
        }
    }

    private func value(_ expression: String?, _ entity: StoreLayout.Entity) -> String? {
        let path = (expression ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard path.count == 2, let relationship = entity.relationship(path[0]) else { return nil }
        switch relationship.storage {
        case .oneToMany(let table, let key) where path[1] == "@count":
            return "(SELECT count(*) FROM \(SQLName.quoted(table)) m WHERE m.\(SQLName.quoted(key.column)) = s.Z_PK)"
        case .toOne(let key):
            guard let destination = layout.entities[relationship.description.destination],
                let column = destination.attribute(path[1])?.column
            else { return nil }
            return "(SELECT d.\(SQLName.quoted(column)) FROM \(SQLName.quoted(destination.table)) d "
                + "WHERE d.Z_PK = s.\(SQLName.quoted(key.column)))"
        default: return nil
        }
    }
}
