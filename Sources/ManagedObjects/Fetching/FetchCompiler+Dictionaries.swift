package import StoreFormat

extension FetchCompiler {
    /// Calls `body` with each dictionary of a fetch's result, in order.
    ///
    /// A value that is not valid for its attribute's type is returned as stored.
    package func forEachDictionary(
        _ fetch: ResolvedFetch,
        on connection: StoreConnection,
        _ body: ([String: PredicateConstant]) throws -> Void
    ) throws {
        let statement = try statement(fetch, selecting: columns(fetch))
        try connection.forEachRow(statement.sql, statement.arguments) { row in
            var result: [String: PredicateConstant] = [:]
            var column = 0
            for (name, property) in fetch.properties {
                switch property {
                case .value(let operand):
                    result[name] = .value(operand.attributeValue(row.value(column)))
                    column += 1
                case .object(let subject):
                    result[name] = identity(subject, row, column).map(PredicateConstant.object) ?? .value(.null)
                    column += 2
                }
            }
            try body(result)
        }
    }

    private func identity(
        _ subject: ResolvedSubject,
        _ row: borrowing StoreRow,
        _ column: Int
    ) -> ManagedObjectID? {
        guard row.type(column) == .integer, let declared = layout.entities[subject.destination] else { return nil }
        let concrete = layout.entity(ofRowNumbered: row.integer(column + 1), inTable: declared.table)
        return ManagedObjectID(
            entity: concrete?.name ?? declared.name,
            root: declared.root,
            storeUUID: storeUUID,
            primaryKey: row.integer(column)
        )
    }
}

extension ResolvedOperand {
    /// Converts a stored value to the operand's type.
    fileprivate func attributeValue(_ stored: SQLValue) -> AttributeValue {
        switch self {
        case .attribute(_, let attribute):
            AttributeValue(stored, of: attribute) ?? AttributeValue(stored, as: .undefined) ?? .null
        case .aggregate(.minimum, _, _, let value), .aggregate(.maximum, _, _, let value): value.attributeValue(stored)
        case .count, .constant, .countWhere, .aggregate: AttributeValue(stored, as: .undefined) ?? .null
        }
    }
}
