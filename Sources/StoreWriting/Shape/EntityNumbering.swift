package import StoreAccess
package import StoreFormat

/// The numbers (`Z_ENT`) that Core Data assigns to the entities of a model.
///
/// Depth first over the inheritance forest, siblings by name without regard to case (COREDATA §1.3).
package struct EntityNumbering: Sendable {
    /// The names in the order of their numbers, the first being 1.
    package let names: [String]
    private let numbers: [String: Int64]
    private let roots: [String: String]
    private let subentities: [String: [String]]

    /// Throws if the model is not a forest: a superentity is missing, or entities inherit from each other.
    package init(_ model: ManagedObjectModel) throws(StoreError) {
        var subentities: [String: [String]] = [:]
        for entity in model.entitiesByName.values {
            if let superentity = entity.superentity, model.entitiesByName[superentity] == nil {
                throw StoreError(.incompatible, path: "", "entity \(entity.name) has an unknown parent \(superentity)")
            }
            subentities[entity.superentity ?? "", default: []].append(entity.name)
        }
        subentities = subentities.mapValues { $0.sorted(by: Self.precedes) }
        var names: [String] = []
        var roots: [String: String] = [:]
        // A stack instead of recursion, because the model decides the depth.
        var pending = (subentities[""] ?? []).reversed().map { (name: $0, root: $0) }
        while let (name, root) = pending.popLast() {
            names.append(name)
            roots[name] = root
            pending += (subentities[name] ?? []).reversed().map { (name: $0, root: root) }
        }
        guard names.count == model.entitiesByName.count else {
            throw StoreError(.incompatible, path: "", "the model's entities descend from each other")
        }
        self.names = names
        self.roots = roots
        self.subentities = subentities
        numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, Int64($0) + 1) })
    }

    package func number(of entity: String) -> Int64? { numbers[entity] }

    /// The entity at the top of the inheritance tree, whose table contains the entity's rows.
    package func root(of entity: String) -> String? { roots[entity] }

    package func hasSubentities(_ entity: String) -> Bool { subentities[entity]?.isEmpty == false }

    /// The root entities in the order of their numbers.
    package var rootNames: [String] { subentities[""] ?? [] }

    /// The entity and all its descendants, in the order of their numbers.
    package func subtree(of entity: String) -> [String] {
        var result: [String] = []
        var pending = [entity]
        while let name = pending.popLast() {
            result.append(name)
            pending += (subentities[name] ?? []).reversed()
        }
        return result
    }

    private static func precedes(_ left: String, _ right: String) -> Bool {
        let (lower, other) = (left.lowercased(), right.lowercased())
        return lower == other ? left < right : lower.utf8.lexicographicallyPrecedes(other.utf8)
    }
}
