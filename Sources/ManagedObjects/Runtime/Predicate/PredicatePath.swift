internal import StoreFormat

/// A key path resolved in a model.
struct PredicatePath {
    /// The end of a path.
    enum Leaf {
        case attribute(AttributeDescription)
        case object
        case count(ResolvedHop)
        /// A value computed from the objects of a to-many relationship.
        case computed(ResolvedOperand, PredicateKind)
        case entity
    }

    /// The to-many relationships on the path, each with the object that owns it.
    var toMany: [(owner: ResolvedSubject, hop: ResolvedHop)] = []
    /// The object whose property ends the path.
    var subject: ResolvedSubject
    var leaf = Leaf.object

    /// Resolves a path from the objects of an entity.
    init(_ names: [String], of entity: String, in model: ManagedObjectModel) throws(FetchError) {
        try self.init(names, from: ResolvedSubject(scope: 0, entity: entity), depth: 1, in: model)
    }

    /// Resolves a path from an object of one of `depth` scopes; each to-many relationship on the path adds a scope.
    init(
        _ names: [String],
        from start: ResolvedSubject,
        depth: Int,
        in model: ManagedObjectModel
    ) throws(FetchError) {
        subject = start
        func error(_ message: String) -> FetchError {
            FetchError(entity: start.entity, keyPath: names.joined(separator: "."), message: message)
        }
        if let problem = KeyPathNames.problem(in: names) {
            throw FetchError(entity: start.entity, keyPath: "", message: problem)
        }
        var nextScope = depth
        var rest = names[...]
        while let name = rest.popFirst() {
            let owner = subject.destination
            guard !name.hasPrefix("@") else {
                throw error(
                    name == "@count"
                        ? "@count must follow a to-many relationship"
                        : "\(name) is not allowed here; after a to-many relationship use @count, @sum, @avg, @min, @max"
                )
            }
            if let attribute = model.attributes(of: owner).first(where: { $0.name == name }) {
                guard rest.isEmpty else { throw error("'\(name)' is an attribute: no key can follow it") }
                guard !attribute.isTransient else { throw error("'\(name)' is transient and not stored") }
                leaf = .attribute(attribute)
                return
            }
            guard let relationship = model.relationship(name, of: owner)?.relationship else {
                let word = name.lowercased()
                if word == "entity", rest.isEmpty || Array(rest) == ["name"] {
                    leaf = .entity
                    return
                }
                guard rest.isEmpty, word == "self" || word == "objectid" else {
                    throw error("the entity \(owner) has no property '\(name)'")
                }
                return
            }
            guard !relationship.isTransient else { throw error("'\(name)' is transient and not stored") }
            let hop = ResolvedHop(entity: owner, relationship: relationship)
            guard relationship.isToMany else {
                subject.hops.append(hop)
                continue
            }
            if rest.first == "@count" {
                guard rest.count == 1 else { throw error("no key can follow @count") }
                leaf = .count(hop)
                return
            }
            if let name = rest.first, let aggregate = PredicateAggregate(rawValue: String(name.dropFirst())),
                name.hasPrefix("@")
            {
                leaf = try Self.computed(aggregate, subject, hop, Array(rest.dropFirst()), in: model)
                return
            }
            toMany.append((subject, hop))
            subject = ResolvedSubject(scope: nextScope, entity: relationship.destination)
            nextScope += 1
        }
    }

    /// A path that ends in a computed value of an object.
    init(_ subject: ResolvedSubject, computed operand: ResolvedOperand, _ kind: PredicateKind) {
        self.subject = subject
        leaf = .computed(operand, kind)
    }

    /// The aggregate of the values at the end of a path from each object of a to-many relationship.
    private static func computed(
        _ aggregate: PredicateAggregate,
        _ owner: ResolvedSubject,
        _ hop: ResolvedHop,
        _ names: [String],
        in model: ManagedObjectModel
    ) throws(FetchError) -> Leaf {
        let element = ResolvedSubject(scope: owner.scope + 1, entity: hop.relationship.destination)
        func error(_ message: String) -> FetchError {
            let written = [hop.relationship.name, "@" + aggregate.rawValue] + names
            return FetchError(entity: hop.entity, keyPath: written.joined(separator: "."), message: message)
        }
        let path = try PredicatePath(names, from: element, depth: owner.scope + 2, in: model)
        guard path.toMany.isEmpty, case .attribute(let attribute) = path.leaf else {
            throw error("an attribute must follow @\(aggregate.rawValue)")
        }
        let kind = PredicateKind(attribute)
        guard aggregate.isNumeric ? kind == .number : kind.isOrdered else {
            throw error("@\(aggregate.rawValue) cannot be computed from \(kind.words)")
        }
        return .computed(.aggregate(aggregate, owner, hop, .attribute(path.subject, attribute)), kind)
    }
}
