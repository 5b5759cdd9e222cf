internal import StoreFormat

/// A key path that was followed through a model.
struct PredicatePath {
    /// What a path ends at.
    enum Leaf {
        case attribute(AttributeDescription)
        case object
        case count(ResolvedHop)
        case entity
    }

    /// The to-many relationships on the way, each with the object that it starts from.
    var toMany: [(owner: ResolvedSubject, hop: ResolvedHop)] = []
    /// The object at whose property the path ends.
    var subject: ResolvedSubject
    var leaf = Leaf.object

    /// Follows a path from the objects of an entity.
    init(_ names: [String], of entity: String, in model: ManagedObjectModel) throws(FetchError) {
        subject = ResolvedSubject(scope: 0, entity: entity)
        func error(_ message: String) -> FetchError {
            FetchError(entity: entity, keyPath: names.joined(separator: "."), message: message)
        }
        var rest = names[...]
        while let name = rest.popFirst() {
            let owner = subject.destination
            guard !name.hasPrefix("@") else {
                throw error(
                    name == "@count"
                        ? "@count needs a to-many relationship before it" : "\(name) is not supported; @count is"
                )
            }
            if let attribute = model.attributes(of: owner).first(where: { $0.name == name }) {
                guard rest.isEmpty else { throw error("'\(name)' is an attribute, and nothing can follow it") }
                guard !attribute.isTransient else { throw error("'\(name)' is transient, and stores do not keep it") }
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
            guard !relationship.isTransient else { throw error("'\(name)' is transient, and stores do not keep it") }
            let hop = ResolvedHop(entity: owner, relationship: relationship)
            guard relationship.isToMany else {
                subject.hops.append(hop)
                continue
            }
            if rest.first == "@count" {
                guard rest.count == 1 else { throw error("nothing can follow @count") }
                leaf = .count(hop)
                return
            }
            toMany.append((subject, hop))
            subject = ResolvedSubject(scope: subject.scope + 1, entity: relationship.destination)
        }
    }
}
