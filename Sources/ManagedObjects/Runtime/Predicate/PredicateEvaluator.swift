internal import StoreAccess
internal import StoreFormat

/// Evaluates a predicate for objects in memory, with the same result as the SQL of a ``PredicateCompiler``.
package struct PredicateEvaluator {
    private let entity: String
    private let node: ResolvedNode
    private let matchers = KeptMatchers()

    package init(_ predicate: ResolvedPredicate) {
        entity = predicate.entity
        node = predicate.node
    }

    /// True when the object matches; throws ``FetchError`` when a regular expression exceeds its limit.
    package func matches(_ object: some PredicateSubject) throws -> Bool {
        try evaluate(node, [object])
    }

    /// The last of `objects` is the innermost scope.
    private func evaluate(_ node: ResolvedNode, _ objects: [any PredicateSubject]) throws -> Bool {
        switch node {
        case .value(let value): return value
        case .not(let inner): return try !evaluate(inner, objects)
        case .all(let nodes): return try nodes.allSatisfy { try evaluate($0, objects) }
        case .any(let nodes): return try nodes.contains { try evaluate($0, objects) }
        case .compare(let first, let order, let second, let options):
            return try compare(first, order, second, options, objects)
        case .member(let operand, let values, let options):
            let value = try value(of: operand, options, objects)
            return values.contains { Self.areEqual($0, value) }
        case .text(let first, let operation, let second, let options):
            guard case .text(let text) = try value(of: first, [], objects),
                case .text(let pattern) = try value(of: second, [], objects)
            else { return false }
            do throws(AbandonedMatch) {
                return try matchers.matches(text.string, operation, options, pattern.string)
            } catch {
                throw FetchError(entity: entity, keyPath: "", message: error.description)
            }
        case .object(let subject, let ids, let orNil):
            guard let id = try identity(of: subject, objects) else { return orNil }
            if ids.contains(id) { return true }
            guard let asked = objects.first else { return false }
            return ids.contains { $0.isTemporaryID && asked.predicateID(since: $0) == id }
        case .sameObject(let first, let second):
            return try identity(of: first, objects) == identity(of: second, objects)
        case .entity(let subject, let names):
            return try object(subject, objects)?.predicateEntityName().map(names.contains) ?? false
        case .exists(let owner, let hop, let condition):
            guard let owner = try object(owner, objects) else { return false }
            return try owner.predicateDestinations(of: hop.relationship.name)
                .contains { try evaluate(condition, objects + [$0]) }
        }
    }

    private func compare(
        _ first: ResolvedOperand,
        _ order: ResolvedNode.Order,
        _ second: ResolvedOperand,
        _ options: StringOptions,
        _ objects: [any PredicateSubject]
    ) throws -> Bool {
        let one = try value(of: first, options, objects)
        let other = try value(of: second, options, objects)
        guard order != .equal else { return Self.areEqual(one, other) }
        guard one != .null, other != .null else { return false }
        // NaN, stored as text, is neither less nor greater than any value.
        if first.mayBeNaN, case .text = one { return false }
        if second.mayBeNaN, case .text = other { return false }
        let result = one.compared(to: other)
        return order == .less ? result < 0 : result <= 0
    }

    private static func areEqual(_ first: SQLValue, _ second: SQLValue) -> Bool {
        first.compared(to: second) == 0
    }

    // MARK: Values

    /// The value of an operand as stored; constants are folded already.
    func value(
        of operand: ResolvedOperand,
        _ options: StringOptions,
        _ objects: [any PredicateSubject]
    ) throws -> SQLValue {
        switch operand {
        case .constant(let value): return value
        case .count(let owner, let hop):
            guard let owner = try object(owner, objects) else { return .integer(0) }
            return .integer(Int64(try owner.predicateDestinations(of: hop.relationship.name).count))
        case .countWhere(let owner, let hop, let depth, let condition):
            guard let owner = try object(owner, objects) else { return .integer(0) }
            let known = Array(objects.prefix(depth))
            let members = try owner.predicateDestinations(of: hop.relationship.name)
            return .integer(Int64(try members.count { try evaluate(condition, known + [$0]) }))
        case .aggregate(let aggregate, let subject, let hop, let operand):
            guard let owner = try object(subject, objects) else { return aggregate.value(of: []) }
            let known = Array(objects.prefix(subject.scope + 1))
            let members = try owner.predicateDestinations(of: hop.relationship.name)
            return aggregate.value(of: try members.map { try value(of: operand, options, known + [$0]) })
        case .attribute(let subject, let attribute):
            guard let object = try object(subject, objects) else { return .null }
            let stored = try object.predicateValue(of: attribute.name).storedForComparison
            guard !options.isEmpty, case .text(let text) = stored else { return stored }
            return .text(options.folded(text.string))
        }
    }

    private func object(_ subject: ResolvedSubject, _ objects: [any PredicateSubject]) throws -> (any PredicateSubject)?
    {
        var object: (any PredicateSubject)? = objects[subject.scope]
        for hop in subject.hops {
            guard let owner = object else { return nil }
            object = try owner.predicateDestination(of: hop.relationship.name)
        }
        return object
    }

    private func identity(
        of subject: ResolvedSubject,
        _ objects: [any PredicateSubject]
    ) throws -> ManagedObjectID? {
        guard let last = subject.hops.last else { return objects[subject.scope].objectID }
        var owner = subject
        owner.hops.removeLast()
        return try object(owner, objects)?.predicateDestinationID(of: last.relationship.name)
    }
}

extension AttributeValue {
    /// The value as stored; the value of an external file is only known to be non-null.
    var storedForComparison: SQLValue { plainlyStored ?? .blob([]) }
}
