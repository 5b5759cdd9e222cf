package import StoreAccess
package import StoreFormat

/// Compiles fetch requests to SQL over the store's actual tables.
///
/// The connection that runs the statements needs the functions of `SQLFunction.forPredicates()`.
package struct FetchCompiler {
    let layout: StoreLayout
    private let predicates: PredicateCompiler

    var storeUUID: String { predicates.storeUUID }

    package init(layout: StoreLayout, storeUUID: String) {
        self.layout = layout
        predicates = PredicateCompiler(layout: layout, storeUUID: storeUUID)
    }

    /// The condition of a fetch, over the alias `t`; nil when all objects of the entity match.
    package func condition(_ fetch: ResolvedFetch) throws(FetchError) -> SQLFragment? {
        guard let predicate = fetch.predicate else { return nil }
        return try predicates.condition(predicate)
    }

    /// The terms after ORDER BY; nil without sort descriptors, when rows are ordered by key.
    package func order(_ fetch: ResolvedFetch) throws(FetchError) -> SQLFragment? {
        var terms: [SQLFragment] = []
        for key in fetch.sortKeys {
            let value = try predicates.value(key.operand, key.options, of: fetch.request.entityName)
            terms.append("\(value) \(plain: key.ascending ? "ASC" : "DESC")")
        }
        return terms.isEmpty ? nil : .joined(terms, by: ", ")
    }

    /// A statement that returns the given columns (of the alias `t`) of each matching row, in order.
    package func statement(_ fetch: ResolvedFetch, selecting columns: SQLFragment) throws(FetchError) -> SQLFragment {
        let isDistinct = fetch.request.returnsDistinctResults && fetch.request.returnsDictionaries
        // DISTINCT rows have no key to order by.
        let terms: [SQLFragment?] = [try order(fetch), isDistinct ? nil : "t.Z_PK"]
        let order = SQLFragment.joined(terms.compactMap { $0 }, by: ", ")
        return """
            SELECT \(plain: isDistinct ? "DISTINCT " : "")\(columns) \(try source(fetch))\
            \(order.sql.isEmpty ? "" : " ORDER BY \(order)")\(window(fetch))
            """
    }

    /// A statement that returns keys and entity numbers.
    package func identifiers(_ fetch: ResolvedFetch) throws(FetchError) -> SQLFragment {
        try statement(fetch, selecting: "t.Z_PK, t.Z_ENT")
    }

    /// A statement that returns the number of objects.
    package func count(_ fetch: ResolvedFetch) throws(FetchError) -> SQLFragment {
        "SELECT count(*) FROM (SELECT 1 \(try source(fetch))\(window(fetch)))"
    }

    // MARK: Parts

    private func source(_ fetch: ResolvedFetch) throws(FetchError) -> SQLFragment {
        let name = fetch.request.entityName
        guard let entity = layout.entities[name] else {
            throw FetchError(entity: name, keyPath: "", message: "the store has no table for this entity")
        }
        let all = layout.entities(inTable: entity.table)
        let wanted =
            fetch.request.includesSubentities ? all.filter { layout.model.isEntity($0.name, kindOf: name) } : [entity]
        let numbers = wanted.map { String($0.number) }.joined(separator: ",")
        // In a table with a single entity, all rows belong to it, even with another entity's number.
        var source: SQLFragment =
            all.count == 1
            ? "FROM \(name: entity.table) t WHERE 1"
            : "FROM \(name: entity.table) t WHERE t.Z_ENT IN (\(plain: numbers))"
        if let condition = try condition(fetch) { source = "\(source) AND (\(condition))" }
        return source
    }

    private func window(_ fetch: ResolvedFetch) -> SQLFragment {
        let (limit, offset) = (fetch.request.fetchLimit, fetch.request.fetchOffset)
        guard limit > 0 || offset > 0 else { return "" }
        return " LIMIT \(plain: limit > 0 ? limit : -1) OFFSET \(plain: max(0, offset))"
    }

    // MARK: Dictionaries

    /// The columns of a dictionary's values, in the order of its properties; an object has its key and its entity.
    func columns(_ fetch: ResolvedFetch) throws(FetchError) -> SQLFragment {
        var columns: [SQLFragment] = []
        for (_, property) in fetch.properties {
            switch property {
            case .value(let operand):
                columns.append(try predicates.value(operand, [], of: fetch.request.entityName))
            case .object(let subject): columns += try predicates.identity(subject)
            }
        }
        return .joined(columns, by: ", ")
    }
}

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

/// Orders objects in memory like the SQL of a ``FetchCompiler`` orders rows.
package struct FetchOrder {
    /// The values by which an object is ordered.
    package struct Key: Hashable, Sendable {
        let values: [SQLValue]
        package let objectID: ManagedObjectID
        /// The position among unsaved objects.
        let creation: Int
    }

    private let sortKeys: [ResolvedFetch.SortKey]
    let evaluator: PredicateEvaluator

    package init(_ fetch: ResolvedFetch) {
        sortKeys = fetch.sortKeys
        evaluator = PredicateEvaluator(ResolvedPredicate(entity: fetch.request.entityName, node: .value(true)))
    }

    /// Copies an object's sort values; the object may change afterwards.
    package func key(of object: some PredicateSubject) throws -> Key {
        Key(
            values: try sortKeys.map { try evaluator.value(of: $0.operand, $0.options, [object]) },
            objectID: object.objectID,
            creation: object.predicateOrder
        )
    }

    /// True when the first comes before the second.
    ///
    /// Among equal objects, unsaved ones come last, in the order in which they will get their keys.
    package func precedes(_ first: Key, _ second: Key) -> Bool {
        for (index, sortKey) in sortKeys.enumerated() {
            let result = first.values[index].compared(to: second.values[index])
            if result != 0 { return (result < 0) == sortKey.ascending }
        }
        let areNew = first.objectID.isTemporaryID && second.objectID.isTemporaryID
        guard areNew, first.creation != second.creation else { return first.objectID < second.objectID }
        return first.creation < second.creation
    }
}
