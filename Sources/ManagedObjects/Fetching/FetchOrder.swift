internal import StoreFormat

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
