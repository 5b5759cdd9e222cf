import StoreAccess
import StoreFormat
import StoreWriting

/// Compares two versions of a model and collects the mapping, or every reason why there is none.
struct MappingInference {
    let source: ManagedObjectModel
    let target: ManagedObjectModel
    let sourceHierarchy: ModelHierarchy
    let targetHierarchy: ModelHierarchy
    private var refusals = OrderedEntries<MappingRefusal>()
    private var changes = OrderedEntries<MappingChange>()
    private var requirements = OrderedEntries<InferredMapping.Requirement>()
    /// The target entity of each source entity, and the reverse.
    private(set) var targets: [String: String] = [:]
    private(set) var sources: [String: String] = [:]
    /// The results of ``includesSurvivors(of:in:)``.
    private var inclusions: [[String]: Inclusion] = [:]

    /// Throws if one of the models permits no store.
    init(source: ManagedObjectModel, target: ManagedObjectModel) throws(MappingRefusals) {
        (self.source, self.target) = (source, target)
        let numberings = try Self.validNumberings([(source, "source"), (target, "target")])
        sourceHierarchy = ModelHierarchy(source, numberings[0])
        targetHierarchy = ModelHierarchy(target, numberings[1])
    }

    /// Infers the mapping; calls `check` for each entity, so that the work on a large model can be cancelled.
    mutating func mapping<Stop: Error>(
        checking check: () throws(Stop) -> Void
    ) throws(Stop) -> Result<InferredMapping, MappingRefusals> {
        matchEntities()
        guard refusals.entries.isEmpty else { return .failure(MappingRefusals(refusals.entries)) }
        checkVersions()
        checkHierarchies()
        var entities: [EntityMapping] = []
        for entity in target.entities {
            try check()
            checkDirection(of: entity)
            entities.append(map(entity))
        }
        let removed = source.entities.map(\.name).filter { targets[$0] == nil }
        for name in removed { changes.append(MappingChange(.entityRemoved, entity: name)) }
        guard refusals.entries.isEmpty else { return .failure(MappingRefusals(refusals.entries)) }
        return .success(
            InferredMapping(
                source: source,
                target: target,
                entities: entities,
                removedEntities: removed,
                changes: changes.entries,
                requirements: requirements.entries
            )
        )
    }

    // MARK: Whole models

    /// The numbering of each model; throws every reason why one of them permits no store.
    private static func validNumberings(
        _ models: [(model: ManagedObjectModel, role: String)]
    ) throws(MappingRefusals) -> [EntityNumbering] {
        var numberings: [EntityNumbering] = []
        var refusals: [MappingRefusal] = []
        for (model, role) in models {
            do {
                numberings.append(try StoreShape(model).numbering)
            } catch {
                let reason = "the \(role) model permits no store: \(error.message)"
                refusals.append(MappingRefusal(.invalidModel, reason, remedy: "Correct the model."))
            }
        }
        guard refusals.isEmpty else { throw MappingRefusals(refusals) }
        return numberings
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

    /// Refuses an older version as the target, as far as version identifiers show which is older.
    private mutating func checkVersions() {
        guard let from = source.versionNumber, let to = target.versionNumber, to < from else { return }
        refuse(
            .olderVersion,
            "the store's model has the version identifier \(from), and the target model has \(to)",
            remedy: "Name a newer version of the model."
        )
    }

    /// Refuses an older version as the target if the source has renamed the entity or one of its properties.
    private mutating func checkDirection(of entity: EntityDescription) {
        guard let former = sources[entity.name].flatMap({ source.entitiesByName[$0] }) else { return }
        if entity.renamingIdentifier == nil, former.renamingIdentifier == entity.name, former.name != entity.name {
            refuseOlder(entity.name, nil, former.name)
        }
        let theirs =
            source.attributes(of: former.name).map { ($0.renamingIdentifier, $0.name) }
            + source.relationships(of: former.name).map { ($0.renamingIdentifier, $0.name) }
        let renamed = Dictionary(
            theirs.compactMap { identifier, name in identifier.flatMap { $0 == name ? nil : ($0, name) } },
            uniquingKeysWith: { first, _ in first }
        )
        guard !renamed.isEmpty else { return }
        let mine =
            entity.attributes.filter { $0.renamingIdentifier == nil }.map(\.name)
            + entity.relationships.filter { $0.renamingIdentifier == nil }.map(\.name)
        for name in mine {
            if let other = renamed[name] { refuseOlder(entity.name, name, other) }
        }
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
        // The first entity of each former tree, by the tree in the target.
        var former: [String: [String: String]] = [:]
        for entity in target.entities {
            guard let name = sources[entity.name], let tree = sourceHierarchy.root(of: name),
                let root = targetHierarchy.root(of: entity.name)
            else { continue }
            if former[root]?[tree] == nil { former[root, default: [:]][tree] = entity.name }
        }
        for (root, trees) in former.sorted(by: { ManagedObjectModel.inByteOrder($0.key, $1.key) })
        where trees.count > 1 {
            let names = trees.values.sorted(by: ManagedObjectModel.inByteOrder)
            refuse(
                .mergedHierarchies,
                entity: root,
                "\(names.joined(separator: " and ")) had no common ancestor and now have one",
                remedy: "Keep the inheritance trees apart, or use a mapping model of the app."
            )
        }
    }

    // MARK: Destinations

    /// What becomes of the objects that a relationship could refer to.
    enum Inclusion {
        /// Every entity of them is removed.
        case none
        /// Each entity that is kept is the new destination, or inherits from it.
        case all
        /// An entity that is kept is not.
        case partial
    }

    /// Whether the kept entities of a former destination are kinds of the new one.
    mutating func includesSurvivors(of former: String, in destination: String) -> Inclusion {
        if let known = inclusions[[former, destination]] { return known }
        let survivors = sourceHierarchy.subtree(of: former).compactMap { targets[$0] }
        let isIncluded = survivors.allSatisfy { targetHierarchy.isEntity($0, kindOf: destination) }
        let result: Inclusion = survivors.isEmpty ? .none : isIncluded ? .all : .partial
        inclusions[[former, destination]] = result
        return result
    }

    // MARK: Results

    mutating func refuse(
        _ rule: MappingRefusal.Rule,
        entity: String? = nil,
        property: String? = nil,
        _ reason: String,
        remedy: String
    ) {
        refusals.append(MappingRefusal(rule, entity: entity, property: property, reason, remedy: remedy))
    }

    /// Notes a difference of a property at the entity that declares it.
    mutating func note(_ kind: MappingChange.Kind, _ entity: String, _ property: String? = nil, former: String? = nil) {
        changes.append(MappingChange(kind, entity: entity, property: property, former: former))
    }

    mutating func require(_ requirement: InferredMapping.Requirement) { requirements.append(requirement) }
}

/// Entries in the order in which they were found, each once: entities that inherit a property find the same.
private struct OrderedEntries<Entry: Hashable> {
    private(set) var entries: [Entry] = []
    private var known: Set<Entry> = []

    mutating func append(_ entry: Entry) {
        if known.insert(entry).inserted { entries.append(entry) }
    }
}

extension ManagedObjectModel {
    /// The version identifier as a number; nil unless the model has exactly one, and it is a number.
    var versionNumber: Int? {
        let identifiers = versionIdentifiers.filter { !$0.isEmpty }
        return identifiers.count == 1 ? Int(identifiers[0]) : nil
    }
}

extension MappingInference {
    /// Maps one entity of the target, and notes its differences.
    mutating func map(_ entity: EntityDescription) -> EntityMapping {
        let former = sources[entity.name].flatMap { source.entitiesByName[$0] }
        if let former {
            if former.name != entity.name { note(.entityRenamed, entity.name, former: former.name) }
            let parent = former.superentity.flatMap { targets[$0] }
            if parent != entity.superentity { note(.parentChanged, entity.name, former: former.superentity) }
            if former.versionHashModifier != entity.versionHashModifier {
                note(.versionHashModifierChanged, entity.name, former: former.versionHashModifier)
            }
        } else {
            note(.entityAdded, entity.name)
        }
        requireUnambiguousProperties(of: entity.name, in: target)
        if let former { requireUnambiguousProperties(of: former.name, in: source) }
        let (known, current) = (PropertyIndex(of: former, in: source), PropertyIndex(of: entity, in: target))
        let attributes = mapAttributes(of: entity, former, known)
        let relationships = mapRelationships(of: entity, former, known)
        if let former { noteRemovals(of: entity, former, current) }
        compareDefinitions(of: entity, former, from: known.canonicalNames, to: current.names)
        return EntityMapping(
            target: entity.name,
            source: former?.name,
            attributes: attributes,
            relationships: relationships
        )
    }

    private mutating func requireUnambiguousProperties(of entity: String, in model: ManagedObjectModel) {
        let names =
            model.attributes(of: entity).filter { !$0.isTransient }.map(\.canonicalName)
            + model.relationships(of: entity).filter { !$0.isTransient }.map(\.canonicalName)
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            refuse(
                .ambiguousRenaming,
                entity: entity,
                "two properties have the renaming identifier \(name)",
                remedy: "Give each property its own renaming identifier."
            )
        }
    }

    /// The properties that the source's entity has and the target's lacks.
    private mutating func noteRemovals(
        of entity: EntityDescription,
        _ former: EntityDescription,
        _ current: PropertyIndex
    ) {
        for attribute in former.attributes
        where !attribute.isTransient && !current.contains(attribute.canonicalName) {
            note(.attributeRemoved, entity.name, attribute.name)
        }
        for relationship in former.relationships
        where !relationship.isTransient && !current.contains(relationship.canonicalName) {
            note(.relationshipRemoved, entity.name, relationship.name)
        }
    }

    // MARK: Constraints and indexes

    /// Compares what the entities declare; `identifiers` has the former properties, and `names` the present ones.
    private mutating func compareDefinitions(
        of entity: EntityDescription,
        _ former: EntityDescription?,
        from identifiers: [String: String],
        to names: [String: String]
    ) {
        // The present name of a former property; unchanged where there is no counterpart.
        func renamed(_ name: String) -> String { identifiers[name].flatMap { names[$0] } ?? name }
        let known = former?.uniquenessConstraints.map { $0.map(renamed) } ?? []
        let knownConstraints = Set(known)
        for constraint in entity.uniquenessConstraints where !knownConstraints.contains(constraint) {
            if former != nil { note(.constraintAdded, entity.name, constraint.joined(separator: ", ")) }
            require(.uniqueValues(entity: entity.name, properties: constraint))
        }
        let constraints = Set(entity.uniquenessConstraints)
        for constraint in known where !constraints.contains(constraint) {
            note(.constraintRemoved, entity.name, constraint.joined(separator: ", "))
        }
        guard let former else { return }
        let indexes = Set(
            former.fetchIndexes.map { index in
                FetchIndexDescription(
                    name: index.name,
                    elements: index.elements.map { element in
                        FetchIndexDescription.Element(
                            property: renamed(element.property),
                            kind: element.kind,
                            isAscending: element.isAscending
                        )
                    },
                    isPartial: index.isPartial
                )
            }
        )
        for index in entity.fetchIndexes where !indexes.contains(index) { note(.indexAdded, entity.name, index.name) }
        let present = Set(entity.fetchIndexes.map(\.name))
        for index in former.fetchIndexes.map(\.name) where !present.contains(index) {
            note(.indexRemoved, entity.name, index)
        }
    }
}
