internal import StoreFormat

/// Orders objects in memory as the SQL of a ``FetchCompiler`` orders rows.
package struct FetchOrder {
    /// What an object is ordered by.
    package struct Key: Hashable, Sendable {
        let values: [SQLValue]
        package let objectID: ManagedObjectID
        /// The place among objects that are not saved yet.
        let creation: Int
    }

    private let sortKeys: [ResolvedFetch.SortKey]
    let evaluator: PredicateEvaluator

    package init(_ fetch: ResolvedFetch) {
        sortKeys = fetch.sortKeys
        evaluator = PredicateEvaluator(ResolvedPredicate(entity: fetch.request.entityName, node: .value(true)))
    }

    /// Takes what an object is ordered by; the object may change afterwards.
    package func key(of object: some PredicateSubject) throws -> Key {
        Key(
            values: try sortKeys.map { try evaluator.value(of: $0.operand, $0.options, [object]) },
            objectID: object.objectID,
            creation: object.predicateOrder
        )
    }

    /// True when the first comes before the second.
    ///
    /// Among equal ones, objects that are not saved yet come last, in the order in which they will get their keys.
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
