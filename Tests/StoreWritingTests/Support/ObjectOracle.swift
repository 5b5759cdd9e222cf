import StoreFormat
import StoreWriting

/// The expected graph of objects, maintained in the simplest correct way.
struct ObjectOracle {
    let model: ManagedObjectModel
    private(set) var objects: [ObjectKey] = []
    private var links: [ObjectKey: [String: [ObjectKey]]] = [:]

    init(_ model: ManagedObjectModel) { self.model = model }

    func destinations(_ owner: ObjectKey, _ name: String) -> [ObjectKey] { links[owner]?[name] ?? [] }

    mutating func insert(_ key: ObjectKey) { objects.append(key) }

    mutating func connect(_ owner: ObjectKey, _ name: String, _ destination: ObjectKey) {
        guard let relationship = relationship(name, of: owner), !destinations(owner, name).contains(destination) else {
            return
        }
        if !relationship.isToMany {
            for former in destinations(owner, name) { disconnect(owner, name, former) }
        }
        // A destination of a to-one inverse, or of a to-many without an inverse, belongs to one owner.
        let inverse = relationship.inverse.flatMap { self.relationship($0, of: destination) }
        if inverse?.isToMany != true, relationship.isToMany || inverse != nil {
            for other in objects where destinations(other, name).contains(destination) {
                disconnect(other, name, destination)
            }
        }
        links[owner, default: [:]][name, default: []].append(destination)
        if let inverse, !(inverse.name == name && owner == destination) {
            links[destination, default: [:]][inverse.name, default: []].append(owner)
        }
    }

    mutating func disconnect(_ owner: ObjectKey, _ name: String, _ destination: ObjectKey) {
        links[owner]?[name]?.removeAll { $0 == destination }
        if let inverse = relationship(name, of: owner)?.inverse {
            links[destination]?[inverse]?.removeAll { $0 == owner }
        }
    }

    mutating func arrange(_ owner: ObjectKey, _ name: String, _ order: [ObjectKey]) {
        links[owner, default: [:]][name] = order
    }

    /// Deletes objects with their cascades; false, without a change, if a rule denies it.
    mutating func delete(_ keys: [ObjectKey]) -> Bool {
        var doomed: Set<ObjectKey> = []
        var pending = keys
        while let key = pending.popLast() {
            guard doomed.insert(key).inserted else { continue }
            for relationship in model.relationships(of: key.entity) where relationship.deleteRule == .cascade {
                pending += destinations(key, relationship.name)
            }
        }
        for key in doomed {
            for relationship in model.relationships(of: key.entity) where relationship.deleteRule == .deny {
                guard doomed.isSuperset(of: destinations(key, relationship.name)) else { return false }
            }
        }
        objects.removeAll(where: doomed.contains)
        for key in doomed { links[key] = nil }
        for (owner, relationships) in links {
            for (name, destinations) in relationships {
                links[owner]?[name] = destinations.filter { !doomed.contains($0) }
            }
        }
        return true
    }

    func relationship(_ name: String, of key: ObjectKey) -> RelationshipDescription? {
        model.relationship(name, of: key.entity)?.relationship
    }
}
