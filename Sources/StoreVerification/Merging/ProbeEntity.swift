import ManagedObjects
import StoreFormat

/// A concrete entity of the scratch store, and the attributes that a probe can change.
struct ProbeEntity: Sendable {
    let name: String
    /// The attribute that is marked; nil where none can be.
    let mark: AttributeDescription?
    /// The attribute to sort its objects by; nil where it has none.
    let order: String?
    /// The URIs of its objects in the store.
    let objects: [String]

    /// The entities of a sample, in the order of their names.
    static func all(of sample: ProbeSample, uuid: String) -> [ProbeEntity] {
        sample.layout.entities.values.filter { !$0.isAbstract }
            .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
            .map { entity in
                let unique = Set(sample.layout.model.lineage(of: entity.name).flatMap(\.uniquenessConstraints).joined())
                let able = entity.attributes.map(\.description)
                    .filter { !$0.isDerived && !$0.isTransient && !unique.contains($0.name) }
                let mark = ProbeMark.types.lazy.compactMap { type in able.first { $0.type == type } }.first
                return ProbeEntity(
                    name: entity.name,
                    mark: mark,
                    order: mark?.name ?? entity.order,
                    objects: (sample.selection.samples[entity.name] ?? [])
                        .filter { sample.selection.contains($0, in: entity.table) }
                        .map { ObjectURI(storeUUID: uuid, entity: entity.name, primaryKey: $0).description }
                )
            }
    }

    /// All its objects, in an order that a mark changes where there is one.
    var everything: FetchRequest<ManagedObject>? {
        guard let order else { return nil }
        var request = FetchRequest(entityName: name)
        request.sortDescriptors = [.init(keyPath: order)]
        return request
    }

    /// The objects with a mark.
    func marked(_ number: Int) throws -> FetchRequest<ManagedObject>? {
        guard let mark, var request = everything, let value = ProbeMark.value(number, of: mark.type) else { return nil }
        request.predicate = try FetchPredicate(format: "%K == %@", mark.name, value)
        return request
    }
}

extension StoreLayout.Entity {
    /// An attribute to sort a list of objects without a mark by.
    fileprivate var order: String? {
        let sorted: Set<AttributeDescription.AttributeType> = [.boolean, .uuid, .uri, .binaryData]
        let plain = attributes.map(\.description).filter { !$0.isTransient && !$0.allowsExternalBinaryDataStorage }
        let counted = relationships.map(\.description).first { $0.isToMany && !$0.isTransient }
        return
            (attributes.map(\.description).first { !$0.isTransient && ProbeMark.types.contains($0.type) }
            ?? plain.first { sorted.contains($0.type) })?
            .name ?? counted.map { $0.name + ".@count" }
    }
}
