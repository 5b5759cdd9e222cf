internal import ChangeMerging
internal import FoundationEssentials
internal import StoreAccess
internal import StoreFormat
internal import StoreWriting

/// Executes one request in one transaction of a store's writer.
///
/// The order matters. References to objects to be deleted are cleared first; otherwise delete rules would affect
/// objects that the save has moved elsewhere. Deletions precede insertions, so that a new object can have the unique
/// values of a deleted one.
struct StoreSave {
    let store: AttachedStore
    let writer: RowWriter
    let connection: StoreConnection
    let model: ModelShape
    var request: SaveRequest
    var outcome = SaveOutcome()
    /// The keys of inserted objects that already had one, by their IDs.
    var newKeys: [ManagedObjectID: ObjectKey] = [:]
    /// The keys of the request's insertions, in the same order, once they are allocated.
    private(set) var insertionKeys: [ObjectKey] = []
    /// The permanent IDs for these keys.
    private(set) var insertionIDs: [ManagedObjectID] = []
    /// The index of each insertion by its ID; built on first use, because many saves never need it.
    private var insertionIndices: [ManagedObjectID: Int] = [:]
    /// The versions of restored objects, which continue where they were.
    var continuedVersions: [ManagedObjectID: Int64] = [:]
    /// Cleared unique attributes with the values to restore; nil for an attribute with a new value.
    var parked: [ManagedObjectID: [String: SQLValue?]] = [:]
    /// The destinations already resolved.
    private var known: [ManagedObjectID: ObjectKey] = [:]
    private(set) var places: [String: [Int]] = [:]
    /// The last result: consecutive objects usually have the same entity.
    private var lastPlaces: (shape: ObjectShape, places: [Int])?

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

    /// Writes everything; the caller owns the transaction and rolls it back when this throws.
    mutating func run() throws -> SaveOutcome {
        outcome.standIns = request.standIns
        for insertion in request.insertions where !insertion.id.isTemporaryID {
            newKeys[insertion.id] = try objectKey(insertion.id)
        }
        if !newKeys.isEmpty { writer.announce(newKeys.values) }
        outcome.isMerged = !request.standIns.isEmpty || !request.supplanted.isEmpty
        try settleConflicts()
        try clearReferencesToDeleted()
        for link in request.links { try writeRemovals(link) }
        try makeRoom()
        try writer.delete(request.deletions.compactMap { try key(of: $0.id) })
        try takeKeys()
        if request.parksUniqueValues { try parkUniqueValues() }
        writer.prepare(forInsertions: request.insertions.count)
        for index in request.insertions.indices { try insert(at: index) }
        for update in request.updates { try writeAttributes(update) }
        // Clear references first, so that the destination of a one-to-one relationship is free for its next owner.
        for update in request.updates { try writeToOnes(update, leadingSomewhere: false) }
        for update in request.updates { try writeToOnes(update, leadingSomewhere: true) }
        try giveParkedValues()
        for link in request.links { try writeAdditions(link) }
        for link in request.links { try arrange(link) }
        return outcome
    }

    // MARK: Keys

    private mutating func takeKeys() throws {
        // By index, because copying an insertion would retain and release five references.
        var counts: [String: Int64] = [:]
        var run: (entity: String, count: Int64) = ("", 0)
        for index in request.insertions.indices where !hasKey(request.insertions[index].id) {
            let entity = request.insertions[index].id.entityName
            if entity != run.entity {
                counts[run.entity, default: 0] += run.count
                run = (entity, 0)
            }
            run.count += 1
        }
        counts[run.entity, default: 0] += run.count
        var next: [String: Int64] = [:]
        for (entity, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            next[entity] = try writer.allocateKeys(for: entity, count: count)
        }
        insertionKeys.reserveCapacity(request.insertions.count)
        insertionIDs.reserveCapacity(request.insertions.count)
        var present: (entity: String, family: ManagedObjectID.Family, next: Int64)?
        for index in request.insertions.indices {
            let id = request.insertions[index].id
            if hasKey(id), let known = newKeys[id] {
                insertionKeys.append(known)
                insertionIDs.append(id)
                continue
            }
            if present?.entity != id.entityName {
                if let present { next[present.entity] = present.next }
                present = (id.entityName, store.family(of: id.entityName), next[id.entityName] ?? 0)
            }
            guard let (entity, family, number) = present else { continue }
            insertionKeys.append(ObjectKey(entity: entity, primaryKey: number))
            insertionIDs.append(ManagedObjectID(family, primaryKey: number))
            present?.next = number + 1
        }
    }

    /// True for a new object that had a key before this save.
    private func hasKey(_ id: ManagedObjectID) -> Bool { !newKeys.isEmpty && newKeys[id] != nil }

    /// The key of an object inserted by this save; nil for others.
    mutating func newKey(of id: ManagedObjectID) -> ObjectKey? {
        if let key = newKeys[id] { return key }
        return insertionIndex(of: id).map { insertionKeys[$0] }
    }

    private mutating func insertionIndex(of id: ManagedObjectID) -> Int? {
        if insertionIndices.count < insertionKeys.count {
            insertionIndices.reserveCapacity(insertionKeys.count)
            for index in insertionKeys.indices { insertionIndices[request.insertions[index].id] = index }
        }
        return insertionIndices[id]
    }

    /// The ID under which an object is saved that a new object references.
    mutating func permanentID(of id: ManagedObjectID) -> ManagedObjectID {
        guard id.isTemporaryID else { return id }
        return insertionIndex(of: id).map { insertionIDs[$0] } ?? id
    }

    func objectKey(_ id: ManagedObjectID) throws -> ObjectKey {
        guard let key = id.primaryKey, id.storeUUID == store.uuid else {
            throw ManagedObjectError(
                .foreignObject,
                "a relationship refers to an object that is neither in this store nor saved with it",
                objectIDs: [id]
            )
        }
        return ObjectKey(entity: id.entityName, primaryKey: key)
    }

    /// The key of an object under its concrete entity; nil when it was deleted, including by this save.
    mutating func key(of id: ManagedObjectID) throws -> ObjectKey? {
        if let key = newKey(of: id) { return key }
        if let key = known[id] { return writer.changes.hasDeleted(key) ? nil : key }
        let given = try objectKey(id)
        guard let key = try writer.object(given.entity, given.primaryKey) else { return nil }
        known[id] = key
        return key
    }

    /// The key of a relationship's destination.
    ///
    /// Nil when it was deleted elsewhere and the policy drops the reference.
    private mutating func destination(_ id: ManagedObjectID, _ owner: ManagedObjectID, _ name: String) throws
        -> ObjectKey?
    {
        if let key = try key(of: id) { return key }
        outcome.isMerged = true
        guard request.policy == .error else { return nil }
        throw danglingReference(owner, name, [id])
    }

    private func danglingReference(
        _ owner: ManagedObjectID,
        _ name: String,
        _ ids: [ManagedObjectID] = []
    ) -> ManagedObjectError {
        ManagedObjectError(
            .objectIsGone,
            "\(owner.entityName).\(name) refers to an object that was deleted elsewhere",
            objectIDs: [owner] + ids
        )
    }

    // MARK: Rows

    private mutating func insert(at index: Int) throws {
        let insertion = request.insertions[index]
        let key = insertionKeys[index]
        var toOnes: [String: ObjectKey] = [:]
        for (number, id) in insertion.toOnes.enumerated() {
            guard let id, !insertion.shape.toOnes[number].isTransient else { continue }
            let relationship = insertion.shape.toOnes[number]
            if let destination = try destination(id, insertion.id, relationship.name) {
                toOnes[relationship.name] = destination
            } else if relationship.isOptional {
                request.insertions[index].values = [relationship.name: .object(nil)]
            } else {
                throw danglingReference(insertion.id, relationship.name, [id])
            }
        }
        let places = try places(of: insertion.shape)
        try writer.insert(
            key,
            values: places.map { try readable(insertion.attributes[$0]) },
            toOne: toOnes,
            version: continuedVersions[insertion.id] ?? 1
        )
    }

    /// The indexes of the attributes that the writer expects, in its order.
    private mutating func places(of shape: ObjectShape) throws -> [Int] {
        if let lastPlaces, lastPlaces.shape === shape { return lastPlaces.places }
        if let known = places[shape.name] {
            lastPlaces = (shape, known)
            return known
        }
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
        guard !update.values.isEmpty, let key = try key(of: update.id) else { return }
        let waiting = parked[update.id] ?? [:]
        var attributes: [String: AttributeValue] = [:]
        for case (let name, .attribute(let value)) in update.values where waiting[name] == nil {
            attributes[name] = try readable(value)
        }
        try writer.update(key, writer.stored(attributes, for: key.entity))
    }

    private mutating func writeToOnes(_ update: SaveRequest.Update, leadingSomewhere: Bool) throws {
        for case (let name, .object(let id)) in update.values.sorted(by: { $0.key < $1.key }) {
            guard (id != nil) == leadingSomewhere, let key = try key(of: update.id) else { continue }
            if let id {
                // If the destination was deleted elsewhere, the stored value stays.
                if let destination = try destination(id, update.id, name) {
                    try writer.set(key, name, to: destination)
                }
            } else {
                try writer.set(key, name, to: nil)
            }
        }
    }

    /// Clears to-one references to objects to be deleted, if this save gives them another destination.
    private mutating func clearReferencesToDeleted() throws {
        let doomed = Set(request.deletions.map(\.id))
        guard !doomed.isEmpty else { return }
        for (index, update) in request.updates.enumerated() {
            guard let base = update.base else { continue }
            let shape = try model.entity(base.id.entityName)
            for case (let name, .object(let id)) in update.values.sorted(by: { $0.key < $1.key }) {
                guard case .toOne(let number)? = shape.property(name), let former = base.toOne(number),
                    doomed.contains(former), let key = try key(of: update.id)
                else { continue }
                try writer.set(key, name, to: nil)
                if id == nil { request.updates[index].values[name] = nil }
            }
        }
    }

    // MARK: Links

    private mutating func writeRemovals(_ link: SaveRequest.Link) throws {
        guard !link.removed.isEmpty, let owner = try key(of: link.owner), newKey(of: link.owner) == nil else {
            return
        }
        for id in link.removed where newKey(of: id) == nil {
            if let member = try key(of: id) { try writer.disconnect(owner, link.relationship, from: member) }
        }
    }

    private mutating func writeAdditions(_ link: SaveRequest.Link) throws {
        guard let owner = try key(of: link.owner) else { return }
        for id in link.added {
            if let member = try destination(id, link.owner, link.relationship) {
                try writer.connect(owner, link.relationship, to: member)
            }
        }
    }

    /// Puts an ordered relationship in the requested order, merged with an order saved elsewhere.
    private mutating func arrange(_ link: SaveRequest.Link) throws {
        guard let order = link.order, let owner = try key(of: link.owner) else { return }
        let present = try writer.destinations(of: owner, link.relationship)
        let base = try link.base.compactMap { try key(of: $0) }
        let local = try order.compactMap { try key(of: $0) }
        // Members added by this save are at the end only for now; that is not a position to preserve.
        let own = Set(local).subtracting(base)
        let wanted = OrderedMerge.order(
            Set(present),
            base: base,
            local: local,
            store: present.filter { !own.contains($0) },
            prefersLocal: request.policy != .mergeByPropertyStoreTrump
        )
        if wanted != present { try writer.arrange(owner, link.relationship, in: wanted) }
    }

    // MARK: Values

    /// A value with its bytes read from an external file.
    func readable(_ value: AttributeValue) throws -> AttributeValue {
        guard case .externalData(let file) = value else { return value }
        return .data(try store.externalData(file.fileName))
    }

    /// The ID of an object in the request or the store, from the writer's key.
    func id(of key: ObjectKey) -> ManagedObjectID {
        if let id = newKeys.first(where: { $0.value == key })?.key { return id }
        return insertionKeys.firstIndex(of: key).map { request.insertions[$0].id } ?? store.id(of: key)
    }
}

extension RowSnapshot {
    /// The stored values by property name, without transient and derived ones.
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
