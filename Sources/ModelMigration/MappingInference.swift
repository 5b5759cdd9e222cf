import StoreFormat
import StoreWriting

/// Compares two versions of a model and collects the mapping, or every reason why there is none.
struct MappingInference {
    let source: ManagedObjectModel
    let target: ManagedObjectModel
    var refusals: [MappingRefusal] = []
    var changes: [MappingChange] = []
    var requirements: [InferredMapping.Requirement] = []
    /// The target entity of each source entity, and the reverse.
    private(set) var targets: [String: String] = [:]
    private(set) var sources: [String: String] = [:]

    init(source: ManagedObjectModel, target: ManagedObjectModel) {
        (self.source, self.target) = (source, target)
    }

    mutating func mapping() throws(MappingRefusals) -> InferredMapping {
        try requireValidModels()
        matchEntities()
        try stopIfRefused()
        checkDirection()
        checkHierarchies()
        var entities: [EntityMapping] = []
        for entity in target.entities { entities.append(map(entity)) }
        let removed = source.entities.map(\.name).filter { targets[$0] == nil }
        for name in removed { changes.append(MappingChange(.entityRemoved, entity: name)) }
        try stopIfRefused()
        return InferredMapping(
            source: source,
            target: target,
            entities: entities,
            removedEntities: removed,
            changes: changes,
            requirements: requirements
        )
    }

    private func stopIfRefused() throws(MappingRefusals) {
        guard refusals.isEmpty else { throw MappingRefusals(refusals) }
    }

    // MARK: Whole models

    private mutating func requireValidModels() throws(MappingRefusals) {
        for (model, role) in [(source, "source"), (target, "target")] {
            do {
                _ = try StoreShape(model)
            } catch {
                refuse(
                    .invalidModel,
                    "the \(role) model permits no store: \(error.message)",
                    remedy: "Correct the model."
                )
            }
        }
        try stopIfRefused()
    }

    private mutating func matchEntities() {
        for (model, role) in [(source, "source"), (target, "target")] {
            for (name, entities) in Dictionary(grouping: model.entities, by: \.canonicalName)
                .sorted(by: { $0.key < $1.key })
            where entities.count > 1 {
                refuse(
                    .ambiguousRenaming,
                    entity: entities[0].name,
                    "\(entities.count) entities of the \(role) model have the renaming identifier \(name)",
                    remedy: "Give each entity its own renaming identifier."
                )
            }
        }
        let known = Dictionary(
            source.entities.map { ($0.canonicalName, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
        for entity in target.entities {
            guard let former = known[entity.canonicalName] else { continue }
            targets[former] = entity.name
            sources[entity.name] = former
        }
        guard sources.isEmpty, !source.entities.isEmpty else { return }
        refuse(
            .unrelatedModels,
            "no entity of the store's model exists in the target model",
            remedy: "Name a version of the store's own model, or give a renamed entity a renaming identifier."
        )
    }

    /// Refuses an older version as the target, as far as the models show which is older.
    private mutating func checkDirection() {
        for entity in target.entities {
            guard let former = sources[entity.name].flatMap({ source.entitiesByName[$0] }) else { continue }
            if Self.isReversed(former.name, former.renamingIdentifier, entity.name, entity.renamingIdentifier) {
                refuseOlder(entity.name, nil, former.name)
            }
            let names =
                source.attributes(of: former.name).map { ($0.name, $0.renamingIdentifier) }
                + source.relationships(of: former.name).map { ($0.name, $0.renamingIdentifier) }
            let mine =
                entity.attributes.map { ($0.name, $0.renamingIdentifier) }
                + entity.relationships.map { ($0.name, $0.renamingIdentifier) }
            for (name, identifier) in mine {
                guard let other = names.first(where: { Self.isReversed($0.0, $0.1, name, identifier) }) else {
                    continue
                }
                refuseOlder(entity.name, name, other.0)
            }
        }
        guard let from = source.versionNumber, let to = target.versionNumber, to < from else { return }
        refuse(
            .olderVersion,
            "the store's model has the version identifier \(from), and the target model has \(to)",
            remedy: "Name a newer version of the model."
        )
    }

    private static func isReversed(_ name: String, _ identifier: String?, _ other: String, _ theirs: String?) -> Bool {
        theirs == nil && identifier == other && name != other
    }

    private mutating func refuseOlder(_ entity: String, _ property: String?, _ newer: String) {
        refuse(
            .olderVersion,
            entity: entity,
            property: property,
            "the store's model calls it \(newer) and says that it was renamed",
            remedy: "Name a newer version of the model."
        )
    }

    private mutating func checkHierarchies() {
        for root in target.entities where root.superentity == nil {
            var former: [String: String] = [:]
            for entity in target.entities where target.lineage(of: entity.name).first?.name == root.name {
                guard let name = sources[entity.name], let tree = source.lineage(of: name).first?.name else { continue }
                if former[tree] == nil { former[tree] = entity.name }
            }
            guard former.count > 1 else { continue }
            let names = former.values.sorted(by: ManagedObjectModel.inByteOrder)
            refuse(
                .mergedHierarchies,
                entity: root.name,
                "\(names.joined(separator: " and ")) had no common ancestor and now have one",
                remedy: "Keep the inheritance trees apart, or use a mapping model of the app."
            )
        }
    }

    mutating func refuse(
        _ rule: MappingRefusal.Rule,
        entity: String? = nil,
        property: String? = nil,
        _ reason: String,
        remedy: String
    ) {
        let refusal = MappingRefusal(rule, entity: entity, property: property, reason, remedy: remedy)
        if !refusals.contains(refusal) { refusals.append(refusal) }
    }

    /// Notes a difference of a property at the entity that declares it.
    mutating func note(_ kind: MappingChange.Kind, _ entity: String, _ property: String? = nil, former: String? = nil) {
        let change = MappingChange(kind, entity: entity, property: property, former: former)
        if !changes.contains(change) { changes.append(change) }
    }

    mutating func require(_ requirement: InferredMapping.Requirement) {
        if !requirements.contains(requirement) { requirements.append(requirement) }
    }
}

extension ManagedObjectModel {
    /// The version identifier as a number; nil unless the model has exactly one, and it is a number.
    var versionNumber: Int? {
        let identifiers = versionIdentifiers.filter { !$0.isEmpty }
        return identifiers.count == 1 ? Int(identifiers[0]) : nil
    }
}
