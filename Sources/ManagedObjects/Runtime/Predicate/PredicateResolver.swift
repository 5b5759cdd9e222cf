public import FoundationEssentials
import StoreAccess
public import StoreFormat

/// Resolves the names of a predicate in a model, and checks its values against the types of the properties.
struct PredicateResolver {
    let model: ManagedObjectModel
    let entity: String
    /// The variables of the enclosing subqueries.
    private var variables: [String: ResolvedSubject] = [:]
    /// The number of scopes: the fetched object, and one for each enclosing subquery.
    private var depth = 1

    init(model: ManagedObjectModel, entity: String) {
        self.model = model
        self.entity = entity
    }

    func error(_ path: [String], _ message: String) -> FetchError {
        FetchError(entity: entity, keyPath: path.joined(separator: "."), message: message)
    }

    func node(_ node: PredicateNode) throws(FetchError) -> ResolvedNode {
        switch node {
        case .value(let value): return .value(value)
        case .not(let inner):
            let inner = try self.node(inner)
            // Double negation cancels, because no result is unknown.
            if case .not(let node) = inner { return node }
            return .not(inner)
        case .all(let nodes):
            return try joined(nodes, ResolvedNode.all) { if case .all(let all) = $0 { all } else { nil } }
        case .any(let nodes):
            return try joined(nodes, ResolvedNode.any) { if case .any(let any) = $0 { any } else { nil } }
        case .comparison(let comparison): return try resolved(comparison)
        case .tooDeep: throw error([], "the predicate nests more than \(PredicateNode.maximumDepth) levels deep")
        }
    }

    /// Joins conditions in one level: redundant parentheses would count towards SQLite's depth limit.
    private func joined(
        _ nodes: [PredicateNode],
        _ join: ([ResolvedNode]) -> ResolvedNode,
        parts: (ResolvedNode) -> [ResolvedNode]?
    ) throws(FetchError) -> ResolvedNode {
        var result: [ResolvedNode] = []
        for node in nodes {
            let node = try self.node(node)
            result += parts(node) ?? [node]
        }
        return result.count == 1 ? result[0] : join(result)
    }

    // MARK: Comparisons

    private func resolved(_ comparison: PredicateComparison) throws(FetchError) -> ResolvedNode {
        if comparison.comparison == .isIn, comparison.modifier == .direct, case .keyPath(let names) = comparison.right {
            return try containment(of: comparison.left, in: names)
        }
        let left = try side(comparison.left)
        let right = try side(comparison.right)
        guard right.path?.toMany.isEmpty ?? true else {
            throw error(right.names, "a to-many relationship is allowed only on the left, after ANY, ALL or NONE")
        }
        let toMany = left.path?.toMany ?? []
        guard comparison.modifier == .direct else {
            guard !toMany.isEmpty else {
                throw error(left.names, "ANY, ALL and NONE need a path through a to-many relationship")
            }
            let condition = try condition(left, comparison, right)
            return Self.quantified(comparison.modifier, toMany, condition)
        }
        guard toMany.isEmpty else {
            let name = toMany[0].hop.relationship.name
            throw error(left.names, "'\(name)' is a to-many relationship: use ANY, ALL, NONE or @count")
        }
        return try condition(left, comparison, right)
    }

    private static func quantified(
        _ modifier: PredicateComparison.Modifier,
        _ toMany: [(owner: ResolvedSubject, hop: ResolvedHop)],
        _ condition: ResolvedNode
    ) -> ResolvedNode {
        let inner = modifier == .all ? ResolvedNode.not(condition) : condition
        let exists = toMany.reversed().reduce(inner) { .exists($1.owner, $1.hop, $0) }
        return modifier == .any ? exists : .not(exists)
    }

    /// `object IN to-many`, which means ANY to-many == object.
    private func containment(of left: PredicateOperand, in names: [String]) throws(FetchError) -> ResolvedNode {
        let path = try path(names)
        guard !path.toMany.isEmpty else {
            throw error(names, "IN must be followed by a collection or a to-many relationship")
        }
        let right = PredicateSide(names: names, content: .path(path))
        let comparison = PredicateComparison(left: .keyPath(names), comparison: .equal, right: left)
        return Self.quantified(.any, path.toMany, try condition(right, comparison, try side(left)))
    }

    private func side(_ operand: PredicateOperand) throws(FetchError) -> PredicateSide {
        switch operand {
        case .constant(let constant): return PredicateSide(names: [], content: .constant(constant))
        case .keyPath(let names): return PredicateSide(names: names, content: .path(try path(names)))
        case .variable(let name):
            let names = ["$" + name]
            return PredicateSide(names: names, content: .path(try path(names)))
        case .subquery(let subquery):
            return PredicateSide(names: subquery.collection, content: .path(try counted(subquery)))
        }
    }

    /// Resolves a path from the fetched object or from a subquery's variable.
    private func path(_ names: [String]) throws(FetchError) -> PredicatePath {
        guard let name = names.first, name.hasPrefix("$") else {
            return try PredicatePath(names, from: ResolvedSubject(scope: 0, entity: entity), depth: depth, in: model)
        }
        guard let subject = variables[String(name.dropFirst())] else {
            throw error([], "the variable \(name) has no value")
        }
        return try PredicatePath(Array(names.dropFirst()), from: subject, depth: depth, in: model)
    }

    /// The number of objects that a subquery finds.
    private func counted(_ subquery: PredicateSubquery) throws(FetchError) -> PredicatePath {
        let path = try path(subquery.collection)
        guard path.toMany.count == 1, path.subject.hops.isEmpty, case .object = path.leaf else {
            throw error(subquery.collection, "a SUBQUERY needs a path that ends at its only to-many relationship")
        }
        let (owner, hop) = path.toMany[0]
        var inner = self
        inner.variables[subquery.variable] = ResolvedSubject(scope: depth, entity: hop.relationship.destination)
        inner.depth += 1
        let condition = try inner.node(subquery.predicate)
        return PredicatePath(owner, computed: .countWhere(owner, hop, depth: depth, condition), .number)
    }

    /// Compares the ends of two paths; the caller handles to-many relationships on them.
    private func condition(
        _ left: PredicateSide,
        _ comparison: PredicateComparison,
        _ right: PredicateSide
    ) throws(FetchError) -> ResolvedNode {
        switch comparison.comparison {
        case .notEqual: return .not(try pair(left, .equal, right, comparison.options))
        case .equal: return try pair(left, .equal, right, comparison.options)
        case .less: return try pair(left, .less, right, comparison.options)
        case .lessOrEqual: return try pair(left, .lessOrEqual, right, comparison.options)
        case .greater: return try pair(right, .less, left, comparison.options)
        case .greaterOrEqual: return try pair(right, .lessOrEqual, left, comparison.options)
        case .between:
            guard case .constant(.collection(let bounds)) = right.content, bounds.count == 2 else {
                throw error(left.names, "BETWEEN must be followed by a collection of two values")
            }
            let (lower, upper) = (PredicateSide(bounds[0]), PredicateSide(bounds[1]))
            return .all([
                try pair(lower, .lessOrEqual, left, comparison.options),
                try pair(left, .lessOrEqual, upper, comparison.options),
            ])
        case .isIn:
            guard case .constant(.collection(let elements)) = right.content else {
                throw error(left.names, "IN must be followed by a collection")
            }
            return try member(left, elements, comparison.options)
        case .string(let operation):
            return try text(left, operation, right, comparison.options)
        }
    }

    private func pair(
        _ left: PredicateSide,
        _ order: ResolvedNode.Order,
        _ right: PredicateSide,
        _ options: StringOptions
    ) throws(FetchError) -> ResolvedNode {
        if left.isObject || right.isObject {
            guard order == .equal else { throw error(left.names + right.names, "objects cannot be ordered") }
            return try objects(left, right)
        }
        if left.isEntity || right.isEntity {
            guard order == .equal else { throw error(left.names + right.names, "entities cannot be ordered") }
            return try entities(left, right)
        }
        let kind = try PredicateKind(left, right, resolver: self)
        let first = try kind.operand(left, beside: right, options, resolver: self)
        let second = try kind.operand(right, beside: left, options, resolver: self)
        if order != .equal {
            guard kind.isOrdered else { throw error(left.names + right.names, "\(kind.words) cannot be ordered") }
            // NaN is neither less nor greater than any value.
            guard kind != .number || first != .constant(.text("NaN")) && second != .constant(.text("NaN")) else {
                return .value(false)
            }
        }
        return .compare(first, order, second, kind == .text ? options : [])
    }

    private func member(
        _ left: PredicateSide,
        _ elements: [PredicateConstant],
        _ options: StringOptions
    ) throws(FetchError) -> ResolvedNode {
        let sides = elements.map(PredicateSide.init)
        if left.isEntity || left.isObject {
            var nodes: [ResolvedNode] = []
            if left.isObject { return try objects(left, among: elements) }
            for side in sides { nodes.append(try entities(left, side)) }
            return .any(nodes)
        }
        var values: [SQLValue] = []
        let example = sides.first { !$0.isNull } ?? PredicateSide(.value(.null))
        let kind = try PredicateKind(left, example, resolver: self)
        for side in sides {
            guard case .constant(let value) = try kind.operand(side, beside: left, options, resolver: self) else {
                continue
            }
            values.append(value)
        }
        return .member(
            try kind.operand(left, beside: example, options, resolver: self),
            values,
            kind == .text ? options : []
        )
    }

    private func text(
        _ left: PredicateSide,
        _ operation: StringOperator,
        _ right: PredicateSide,
        _ options: StringOptions
    ) throws(FetchError) -> ResolvedNode {
        let kind = try PredicateKind(left, right, resolver: self)
        guard kind == .text else { throw error(left.names + right.names, "this operator requires strings") }
        let pattern = try kind.operand(right, beside: left, [], resolver: self)
        if operation == .matches, case .constant(.text(let text)) = pattern,
            StringMatcher(.matches, options: options, pattern: text.string) == nil
        {
            throw error(left.names, "this is not a valid regular expression")
        }
        return .text(try kind.operand(left, beside: right, [], resolver: self), operation, pattern, options)
    }
}

extension PredicateResolver {
    /// Compares objects by identity.
    func objects(_ left: PredicateSide, _ right: PredicateSide) throws(FetchError) -> ResolvedNode {
        switch (left.content, right.content) {
        case (.path(let first), .path(let second)):
            guard case .object = first.leaf, case .object = second.leaf else {
                throw error(left.names + right.names, "an object can only be compared with an object")
            }
            return .sameObject(first.subject, second.subject)
        case (.path, .constant(let constant)): return try objects(left, among: [constant])
        case (.constant(let constant), .path): return try objects(right, among: [constant])
        case (.constant(let first), .constant(let second)): return .value(first == second)
        }
    }

    func objects(_ side: PredicateSide, among constants: [PredicateConstant]) throws(FetchError) -> ResolvedNode {
        var ids: [ManagedObjectID] = []
        var orNil = false
        for constant in constants {
            switch constant {
            case .object(let id): ids.append(id)
            case .value(.null): orNil = true
            default: throw error(side.names, "an object can only be compared with an object, an object ID or nil")
            }
        }
        guard case .path(let path) = side.content, case .object = path.leaf else {
            throw error(side.names, "only objects can be compared with objects")
        }
        return .object(path.subject, ids, orNil: orNil)
    }

    /// Compares the entity of an object with a name.
    func entities(_ left: PredicateSide, _ right: PredicateSide) throws(FetchError) -> ResolvedNode {
        let (path, other) = left.isEntity ? (left, right) : (right, left)
        guard case .path(let entityPath) = path.content, case .constant(.value(.string(let name))) = other.content
        else {
            throw error(path.names, "an entity can only be compared with a string, its name")
        }
        guard model.entitiesByName[name] != nil else { throw error(path.names, "the model has no entity '\(name)'") }
        return .entity(entityPath.subject, [name])
    }
}

/// A type of properties that a predicate can compare with one value: attributes and to-one destinations.
public protocol EquatableProperty: PredicateArgument {}

/// A type whose values a request can sort by: numbers, texts, dates, booleans, UUIDs and URIs.
public protocol SortableAttribute: EquatableProperty {}

/// A type whose values a predicate can order: numbers, texts, dates and URIs.
public protocol OrderedAttribute: SortableAttribute {}

/// The text of an attribute.
public protocol TextAttribute: OrderedAttribute {}

extension Int: OrderedAttribute {}
extension Int16: OrderedAttribute {}
extension Int32: OrderedAttribute {}
extension Int64: OrderedAttribute {}
extension Double: OrderedAttribute {}
extension Float: OrderedAttribute {}
extension Decimal: OrderedAttribute {}
extension Date: OrderedAttribute {}
extension URL: OrderedAttribute {}
extension String: TextAttribute {}
extension Bool: SortableAttribute {}
extension UUID: SortableAttribute {}
extension Data: EquatableProperty {}
extension AttributeValue: EquatableProperty {}
extension ManagedObject: EquatableProperty {}
extension Optional: EquatableProperty where Wrapped: EquatableProperty {}
extension Optional: SortableAttribute where Wrapped: SortableAttribute {}
extension Optional: OrderedAttribute where Wrapped: OrderedAttribute {}
extension Optional: TextAttribute where Wrapped: TextAttribute {}

extension FetchRequest.SortDescriptor where Object: TypedObject {
    /// Sorts by an attribute, of the object itself or of a to-one destination, or by the count of a to-many relationship.
    public init<Value: SortableAttribute>(
        _ property: KeyPath<Object, Value>,
        ascending: Bool = true,
        comparison: SortComparison = .literal
    ) {
        self.init(named: property, ascending, comparison)
    }

    /// Sorts by the raw values of an enumeration.
    public init<Case: RawRepresentable>(
        _ property: KeyPath<Object, Case>,
        ascending: Bool = true,
        comparison: SortComparison = .literal
    ) where Case.RawValue: SortableAttribute {
        self.init(named: property, ascending, comparison)
    }

    /// Sorts by the raw values of an enumeration, and by whether there is one.
    public init<Case: RawRepresentable>(
        _ property: KeyPath<Object, Case?>,
        ascending: Bool = true,
        comparison: SortComparison = .literal
    ) where Case.RawValue: SortableAttribute {
        self.init(named: property, ascending, comparison)
    }

    private init<Value>(named property: KeyPath<Object, Value>, _ ascending: Bool, _ comparison: SortComparison) {
        self.init(
            keyPath: KeyPathNames.names(of: property).joined(separator: "."),
            ascending: ascending,
            comparison: comparison
        )
    }

    @available(*, unavailable, message: "objects cannot be sorted by a to-many relationship: sort by its count")
    public init<Objects: ToManyDestinations>(_ property: KeyPath<Object, Objects>, ascending: Bool = true) {
        self.init(keyPath: "")
    }

    @available(
        *,
        unavailable,
        message: "objects cannot be sorted by a to-one relationship: sort by one of its attributes"
    )
    public init<Destination: ManagedObject>(_ property: KeyPath<Object, Destination?>, ascending: Bool = true) {
        self.init(keyPath: "")
    }
}
