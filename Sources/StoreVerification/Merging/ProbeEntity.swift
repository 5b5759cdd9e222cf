import ManagedObjects
import StoreFormat

/// A concrete entity of the scratch store, and what of it a probe can change.
struct ProbeEntity: Sendable {
    let name: String
    /// The attribute that is marked; nil where none can be.
    let mark: AttributeDescription?
    /// The URIs of objects that were in the store.
    let objects: [String]

    /// The entities of a sample, in the order of their names.
    static func all(of sample: ProbeSample, uuid: String) -> [ProbeEntity] {
        sample.layout.entities.values.filter { !$0.isAbstract }
            .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
            .map { entity in
                let unique = Set(sample.layout.model.lineage(of: entity.name).flatMap(\.uniquenessConstraints).joined())
                let able = entity.attributes.map(\.description)
                    .filter { !$0.isDerived && !$0.isTransient && !unique.contains($0.name) }
                return ProbeEntity(
                    name: entity.name,
                    mark: ProbeMark.types.lazy.compactMap { type in able.first { $0.type == type } }.first,
                    objects: (sample.selection.samples[entity.name] ?? [])
                        .filter { sample.selection.contains($0, in: entity.table) }
                        .map { ObjectURI(storeUUID: uuid, entity: entity.name, primaryKey: $0).description }
                )
            }
    }

    /// All its objects, in an order that a mark changes; nil for an entity that cannot be marked.
    var everything: FetchRequest? {
        guard let mark else { return nil }
        var request = FetchRequest(entityName: name)
        request.sortDescriptors = [.init(keyPath: mark.name)]
        return request
    }

    /// The objects that bear a mark.
    func marked(_ number: Int) throws -> FetchRequest? {
        guard let mark, var request = everything, let value = ProbeMark.value(number, of: mark.type) else { return nil }
        request.predicate = try FetchPredicate(format: "%K == %@", mark.name, value)
        return request
    }
}
