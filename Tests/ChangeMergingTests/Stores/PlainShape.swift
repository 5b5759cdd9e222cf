import StoreFormat

/// The relationships of a model, each listed once with its inverse.
struct PlainShape {
    /// A relationship and its inverse: the names of both ends, and which of them are single.
    struct Relation {
        let owner: String
        let name: String
        let member: String
        let ownerIsSingle: Bool
        let memberIsSingle: Bool
        var isSymmetric = false
        /// True if deleting the member, or the owner, deletes the other too.
        var memberTakesOwner = false
        var ownerTakesMember = false
        var ownerNeedsMember = false
        var memberNeedsOwner = false
    }

    let relations: [Relation]

    init(_ relations: [Relation]) { self.relations = relations }

    /// Reads the relationships of a model.
    init(_ model: ManagedObjectModel) {
        var found: [Relation] = []
        for entity in model.entitiesByName.values.sorted(by: { $0.name < $1.name }) {
            for relationship in entity.relationships where !relationship.isTransient {
                let inverse = relationship.inverse.flatMap { name in
                    model.relationships(of: relationship.destination).first { $0.name == name }
                }
                // The relationship listed first represents both; a to-one comes before a to-many, since it contains the
                // key.
                let isKnown = found.contains { known in
                    known.name == relationship.inverse && relationship.name == inverseName(known, model)
                        && model.isEntity(relationship.destination, kindOf: known.owner)
                        && model.isEntity(entity.name, kindOf: known.member)
                }
                guard !isKnown else { continue }
                found.append(
                    Relation(
                        owner: entity.name,
                        name: relationship.name,
                        member: relationship.destination,
                        ownerIsSingle: !relationship.isToMany,
                        memberIsSingle: inverse.map { !$0.isToMany } ?? relationship.isToMany,
                        isSymmetric: relationship.inverse == relationship.name
                            && relationship.destination == entity.name,
                        memberTakesOwner: inverse?.deleteRule == .cascade,
                        ownerTakesMember: relationship.deleteRule == .cascade,
                        ownerNeedsMember: !relationship.isToMany && !relationship.isOptional,
                        memberNeedsOwner: inverse.map { !$0.isToMany && !$0.isOptional } ?? false
                    )
                )
            }
        }
        relations = found
        func inverseName(_ relation: Relation, _ model: ManagedObjectModel) -> String? {
            model.relationships(of: relation.owner).first { $0.name == relation.name }?.inverse
        }
    }

    /// Both ends of a symmetric relationship are equal: the smaller key comes first.
    func pair(_ relation: Int, _ owner: PlainGraph.Key, _ member: PlainGraph.Key) -> PlainGraph.Pair {
        relations[relation].isSymmetric && owner.number > member.number
            ? PlainGraph.Pair(relation: relation, owner: member, member: owner)
            : PlainGraph.Pair(relation: relation, owner: owner, member: member)
    }
}
