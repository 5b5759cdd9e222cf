internal import StoreFormat

/// The destinations of a to-many relationship: a set, or an array if the relationship is ordered.
public protocol ToManyDestinations {
    associatedtype Destination: TypedObject
}

extension Set: ToManyDestinations where Element: TypedObject {
    public typealias Destination = Element
}

extension Array: ToManyDestinations where Element: TypedObject {
    public typealias Destination = Element
}

extension Optional: ToManyDestinations where Wrapped: ToManyDestinations {
    public typealias Destination = Wrapped.Destination
}

extension KeyPath where Root: TypedObject, Value: ToManyDestinations {
    /// True for objects with a destination that matches the condition.
    public func any(_ condition: TypedPredicate<Value.Destination>) -> TypedPredicate<Root> {
        quantified(.any, condition.untyped)
    }

    /// True for objects all of whose destinations match the condition, also for those without destinations.
    public func all(_ condition: TypedPredicate<Value.Destination>) -> TypedPredicate<Root> {
        quantified(.all, condition.untyped)
    }

    /// True for objects without a destination that matches the condition.
    public func none(_ condition: TypedPredicate<Value.Destination>) -> TypedPredicate<Root> {
        quantified(.none, condition.untyped)
    }

    /// True for objects with this destination.
    public func contains(_ destination: Value.Destination) -> TypedPredicate<Root> { contains(destination.objectID) }

    /// True for objects with the destination of this ID.
    public func contains(_ id: ManagedObjectID) -> TypedPredicate<Root> {
        TypedPredicate(
            FetchPredicate(
                .comparison(
                    PredicateComparison(
                        modifier: .any,
                        left: .keyPath(KeyPathNames.names(of: self)),
                        comparison: .equal,
                        right: .constant(.object(id))
                    )
                )
            )
        )
    }

    /// One comparison of a property is quantified as such (`ANY days.date == …`); any other condition is a subquery.
    private func quantified(
        _ modifier: PredicateComparison.Modifier,
        _ condition: FetchPredicate
    ) -> TypedPredicate<Root> {
        let names = KeyPathNames.names(of: self)
        if case .comparison(var comparison) = condition.node, comparison.modifier == .direct,
            case .keyPath(let inner) = comparison.left, !inner.contains("@count")
        {
            comparison = PredicateComparison(
                modifier: modifier,
                left: .keyPath(names + inner),
                comparison: comparison.comparison,
                options: comparison.options,
                right: comparison.right
            )
            return TypedPredicate(FetchPredicate(.comparison(comparison)))
        }
        let variable = "destination\(condition.node.depth)"
        let bound = condition.node.bound(to: variable)
        let found = PredicateSubquery(
            collection: names,
            variable: variable,
            predicate: modifier == .all ? .not(bound) : bound
        )
        return TypedPredicate(
            FetchPredicate(
                .comparison(
                    PredicateComparison(
                        left: .subquery(found),
                        comparison: modifier == .any ? .greater : .equal,
                        right: .constant(.value(.integer(0)))
                    )
                )
            )
        )
    }
}

extension PredicateNode {
    /// The condition for the object in a variable instead of the fetched one.
    fileprivate func bound(to variable: String) -> PredicateNode {
        switch self {
        case .value, .tooDeep: self
        case .not(let node): .not(node.bound(to: variable))
        case .all(let nodes): .all(nodes.map { $0.bound(to: variable) })
        case .any(let nodes): .any(nodes.map { $0.bound(to: variable) })
        case .comparison(let comparison):
            .comparison(
                PredicateComparison(
                    modifier: comparison.modifier,
                    left: comparison.left.bound(to: variable),
                    comparison: comparison.comparison,
                    options: comparison.options,
                    right: comparison.right.bound(to: variable)
                )
            )
        }
    }
}

extension PredicateOperand {
    fileprivate func bound(to variable: String) -> PredicateOperand {
        func bound(_ names: [String]) -> [String] {
            names.first?.hasPrefix("$") == true ? names : ["$" + variable] + names
        }
        switch self {
        case .constant, .variable: return self
        case .keyPath(let names): return .keyPath(bound(names))
        case .subquery(let subquery):
            return .subquery(
                PredicateSubquery(
                    collection: bound(subquery.collection),
                    variable: subquery.variable,
                    predicate: subquery.predicate
                )
            )
        }
    }
}
