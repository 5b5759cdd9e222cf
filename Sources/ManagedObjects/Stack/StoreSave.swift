internal import ChangeMerging
internal import FoundationEssentials
internal import StoreFormat
internal import StoreWriting

/// Carries out one request in one transaction of a store's writer.
struct StoreSave {
    private let store: AttachedStore
    let writer: RowWriter
    private let connection: StoreConnection
    private let model: ModelShape
    private(set) var request: SaveRequest
    private var outcome = SaveOutcome()
    /// The keys of new objects, by their temporary ids.
    private(set) var newKeys: [ManagedObjectID: ObjectKey] = [:]
    /// The versions of objects that come back, which go on where they were.
    private(set) var continuedVersions: [ManagedObjectID: Int64] = [:]
    /// The destinations that were looked up.
    private var known: [ManagedObjectID: ObjectKey] = [:]
    private(set) var places: [String: [Int]] = [:]

    init(
        _ request: SaveRequest,
        store: AttachedStore,
        writer: RowWriter,
        connection: StoreConnection,
        model: ModelShape
    ) {
        self.connection = connection
        self.request = request
        self.store = store
        self.writer = writer
        self.model = model
    }

    /// Writes everything; the caller holds the transaction and rolls it back when this throws.
    mutating func run() throws -> SaveOutcome {
        outcome.permanentIDs = request.standIns
        try settleConflicts()
        try writer.delete(request.precedingDeletions.compactMap { try key(of: $0) })
        try takeKeys()
        for insertion in request.insertions { try insert(insertion) }
        for update in request.updates { try writeAttributes(update) }
        // Whoever lets go comes first, so that a one-to-one is free for its next owner.
        for update in request.updates { try writeToOnes(update, leadingSomewhere: false) }
        for update in request.updates { try writeToOnes(update, leadingSomewhere: true) }
        for link in request.links { try write(link) }
        for link in request.links { try arrange(link) }
        try writer.delete(
            request.deletions.compactMap { try key(of: $0.id) }
        )
        return outcome
    }

    // MARK: Conflicts

    /// Finds out what others changed, and changes the request by the policy, or gives up.
    private mutating func settleConflicts() throws {
        var conflicts: [MergeConflict<ManagedObjectID, PropertyValue>] = []
        var updates: [SaveRequest.Update] = []
        for var update in request.updates {
            guard let conflict = try writer.conflict(over: objectKey(update.id), expecting: update.base.version) else {
                updates.append(update)
                continue
            }
            let description = try describe(update.id, update.base, local: update.values, conflict)
            switch description.merge.outcome(by: request.policy) {
            case .fail: conflicts.append(description)
            case .keep:
                outcome.kept.insert(update.id)
                request.links.removeAll { $0.owner == update.id && request.policy == .rollback }
            case .write(let values, _):
                update.values = values
                updates.append(update)
            case .delete: request.deletions.append(SaveRequest.Deletion(id: update.id, base: nil))
            case .restore(let values, _):
                newKeys[update.id] = try objectKey(update.id)
                continuedVersions[update.id] = update.base.version + 1
                request.insertions.append(
                    try SaveRequest.Insertion(id: update.id, shape: model.entity(update.id.entityName), values: values)
                )
            }
        }
        request.updates = updates
        var deletions: [SaveRequest.Deletion] = []
        for deletion in request.deletions {
            guard let base = deletion.base,
                let conflict = try writer.conflict(over: objectKey(deletion.id), expecting: base.version)
            else {
                deletions.append(deletion)
                continue
            }
            let description = try describe(deletion.id, base, local: nil, conflict)
            switch description.merge.outcome(by: request.policy) {
            case .fail: conflicts.append(description)
            case .delete: deletions.append(deletion)
            case .keep, .write, .restore:
                if conflict.found == nil {
                    outcome.deleted.insert(deletion.id)
                } else {
                    outcome.kept.insert(deletion.id)
                }
            }
        }
        request.deletions = deletions
        guard conflicts.isEmpty else { throw SaveConflict(conflicts: conflicts) }
    }

    private func describe(
        _ id: ManagedObjectID,
        _ base: RowSnapshot,
        local: [String: PropertyValue]?,
        _ conflict: VersionConflict
    ) throws -> MergeConflict<ManagedObjectID, PropertyValue> {
        let shape = try model.entity(id.entityName)
        let stored = try conflict.found == nil ? nil : store.row(of: id, through: connection)
        return MergeConflict(
            object: id,
            oldVersion: base.version,
            newVersion: conflict.found,
            base: base.values(of: shape),
            local: local,
            store: stored?.values(of: shape)
        )
    }

    // MARK: Keys

    private mutating func takeKeys() throws {
        let new = request.insertions.filter { newKeys[$0.id] == nil }
        for (entity, group) in Dictionary(grouping: new, by: \.id.entityName).sorted(by: { $0.key < $1.key }) {
            var next = try writer.allocateKeys(for: entity, count: Int64(group.count))
            for insertion in group {
                let key = ObjectKey(entity: entity, primaryKey: next)
                newKeys[insertion.id] = key
                outcome.permanentIDs[insertion.id] = store.id(of: key)
                next += 1
            }
        }
    }

    private func objectKey(_ id: ManagedObjectID) throws -> ObjectKey {
        guard let key = id.primaryKey, id.storeUUID == store.uuid else {
            throw ManagedObjectError(
                .foreignObject,
                "a relationship leads to an object that is not in this store and is not saved with it",
                objectIDs: [id]
            )
        }
        return ObjectKey(entity: id.entityName, primaryKey: key)
    }

    /// The key of an object under its concrete entity; nil when it is gone.
    private mutating func key(of id: ManagedObjectID) throws -> ObjectKey? {
        if let key = newKeys[id] ?? known[id] { return key }
        let given = try objectKey(id)
        guard let key = try writer.object(given.entity, given.primaryKey) else { return nil }
        known[id] = key
        return key
    }

    private mutating func destination(_ id: ManagedObjectID, _ owner: ManagedObjectID, _ name: String) throws
        -> ObjectKey
    {
        guard let key = try key(of: id) else {
            throw ManagedObjectError(
                .objectIsGone,
                "\(owner.entityName).\(name) leads to an object that others deleted",
                objectIDs: [owner, id]
            )
        }
        return key
    }

    // MARK: Rows

    private mutating func insert(_ insertion: SaveRequest.Insertion) throws {
        guard let key = newKeys[insertion.id] else { return }
        var toOnes: [String: ObjectKey] = [:]
        for (index, id) in insertion.toOnes.enumerated() {
            guard let id, !insertion.shape.toOnes[index].isTransient else { continue }
            let name = insertion.shape.toOnes[index].name
            toOnes[name] = try destination(id, insertion.id, name)
        }
        let places = try places(of: insertion.shape)
        try writer.insert(
            key,
            values: places.map { try readable(insertion.attributes[$0]) },
            toOne: toOnes,
            version: continuedVersions[insertion.id] ?? 1
        )
    }

    /// Where in an object's attributes the values are that the writer wants, in its order.
    private mutating func places(of shape: ObjectShape) throws -> [Int] {
        if let known = places[shape.name] { return known }
        let found = try writer.insertedAttributes(of: shape.name)
            .map { name in
                guard case .attribute(let index) = shape.property(name) else {
                    throw ManagedObjectError(.unknownProperty, "\(shape.name) has no attribute \(name)")
                }
                return index
            }
        places[shape.name] = found
        return found
    }

    private mutating func writeAttributes(_ update: SaveRequest.Update) throws {
        var attributes: [String: AttributeValue] = [:]
        for case (let name, .attribute(let value)) in update.values { attributes[name] = try readable(value) }
        let key = try objectKey(update.id)
        try writer.update(key, writer.stored(attributes, for: key.entity))
    }

    private mutating func writeToOnes(_ update: SaveRequest.Update, leadingSomewhere: Bool) throws {
        for case (let name, .object(let id)) in update.values.sorted(by: { $0.key < $1.key }) {
            guard (id != nil) == leadingSomewhere else { continue }
            let key = try objectKey(update.id)
            try writer.set(key, name, to: id.map { try destination($0, update.id, name) })
        }
    }

    private mutating func write(_ link: SaveRequest.Link) throws {
        guard let owner = try key(of: link.owner) else { return }
        for id in link.removed {
            if let member = try key(of: id) { try writer.disconnect(owner, link.relationship, from: member) }
        }
        for id in link.added {
            try writer.connect(owner, link.relationship, to: destination(id, link.owner, link.relationship))
        }
    }

    /// Brings an ordered relationship into the order asked for; members that others added come last.
    private mutating func arrange(_ link: SaveRequest.Link) throws {
        guard let order = link.order, let owner = try key(of: link.owner) else { return }
        let present = try writer.destinations(of: owner, link.relationship)
        let members = Set(present)
        let placed = try order.compactMap { try key(of: $0) }.filter(members.contains)
        let known = Set(placed)
        let wanted = placed + present.filter { !known.contains($0) }
        if wanted != present { try writer.arrange(owner, link.relationship, in: wanted) }
    }

    /// A value with its bytes, where they lie in a file.
    private func readable(_ value: AttributeValue) throws -> AttributeValue {
        guard case .externalData(let file) = value else { return value }
        return .data(try store.externalData(file.fileName))
    }

    /// The object behind a key that the writer names, in the words of contexts.
    func id(of key: ObjectKey) -> ManagedObjectID {
        newKeys.first { $0.value == key }?.key ?? store.id(of: key)
    }
}

extension RowSnapshot {
    /// The values by the names of their properties, those without a column left out.
    func values(of shape: ObjectShape) -> [String: PropertyValue] {
        var result: [String: PropertyValue] = [:]
        for (attribute, value) in zip(shape.attributes, attributes) where !attribute.isTransient && !attribute.isDerived
        {
            result[attribute.name] = .attribute(value)
        }
        for (relationship, id) in zip(shape.toOnes, toOnes) where !relationship.isTransient {
            result[relationship.name] = .object(id)
        }
        return result
    }
}
