internal import ChangeMerging
internal import FoundationEssentials
internal import StoreFormat
internal import StoreWriting

/// Carries out one request in one transaction of a store's writer.
///
/// The order matters: what leads to a doomed object lets go of it first, or its deletion would take along what was moved to
/// safety; deletions come before insertions, so that a successor may have the unique values of what it succeeds.
struct StoreSave {
    let store: AttachedStore
    let writer: RowWriter
    let connection: StoreConnection
    let model: ModelShape
    var request: SaveRequest
    var outcome = SaveOutcome()
    /// The keys of objects that this save inserts and that had one before, by their ids.
    var newKeys: [ManagedObjectID: ObjectKey] = [:]
    /// The keys of the request's insertions, each in its place, once they are taken.
    private(set) var insertionKeys: [ObjectKey] = []
    /// The permanent ids that belong to them.
    private(set) var insertionIDs: [ManagedObjectID] = []
    /// Where each insertion is, by its id; made when somebody first asks for one, for often nobody does.
    private var insertionIndices: [ManagedObjectID: Int] = [:]
    /// The versions of objects that come back, which go on where they were.
    var continuedVersions: [ManagedObjectID: Int64] = [:]
    /// Attributes whose unique values were taken away and are still to be given; nil for one that has a new value.
    var parked: [ManagedObjectID: [String: SQLValue?]] = [:]
    /// The destinations that were looked up.
    private var known: [ManagedObjectID: ObjectKey] = [:]
    private(set) var places: [String: [Int]] = [:]
    /// Those that were asked for last: objects of one entity follow each other.
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

    /// Writes everything; the caller holds the transaction and rolls it back when this throws.
    mutating func run() throws -> SaveOutcome {
        outcome.standIns = request.standIns
        for insertion in request.insertions where !insertion.id.isTemporaryID {
            newKeys[insertion.id] = try objectKey(insertion.id)
        }
        if !newKeys.isEmpty { writer.announce(newKeys.values) }
        outcome.isMerged = !request.standIns.isEmpty || !request.supplanted.isEmpty
        try settleConflicts()
        try letGoOfDoomed()
        for link in request.links { try writeRemovals(link) }
        try makeRoom()
        try writer.delete(request.deletions.compactMap { try key(of: $0.id) })
        try takeKeys()
        if request.parksUniqueValues { try parkUniqueValues() }
        for index in request.insertions.indices { try insert(at: index) }
        for update in request.updates { try writeAttributes(update) }
        // Whoever lets go comes first, so that a one-to-one is free for its next owner.
        for update in request.updates { try writeToOnes(update, leadingSomewhere: false) }
        for update in request.updates { try writeToOnes(update, leadingSomewhere: true) }
        try giveParkedValues()
        for link in request.links { try writeAdditions(link) }
        for link in request.links { try arrange(link) }
        return outcome
    }

    // MARK: Keys

    private mutating func takeKeys() throws {
        // Here by index: a copy of each insertion would count five references up and down.
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

    /// True for a new object that had its key before this save.
    private func hasKey(_ id: ManagedObjectID) -> Bool { !newKeys.isEmpty && newKeys[id] != nil }

    /// The key of an object that this save inserts; nil for others.
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

    /// The id under which an object is saved that a new one leads to.
    mutating func permanentID(of id: ManagedObjectID) -> ManagedObjectID {
        guard id.isTemporaryID else { return id }
        return insertionIndex(of: id).map { insertionIDs[$0] } ?? id
    }

    func objectKey(_ id: ManagedObjectID) throws -> ObjectKey {
        guard let key = id.primaryKey, id.storeUUID == store.uuid else {
            throw ManagedObjectError(
                .foreignObject,
                "a relationship leads to an object that is not in this store and is not saved with it",
                objectIDs: [id]
            )
        }
        return ObjectKey(entity: id.entityName, primaryKey: key)
    }

    /// The key of an object under its concrete entity; nil when it is gone, be it by this save.
    mutating func key(of id: ManagedObjectID) throws -> ObjectKey? {
        if let key = newKey(of: id) { return key }
        if let key = known[id] { return writer.changes.hasDeleted(key) ? nil : key }
        let given = try objectKey(id)
        guard let key = try writer.object(given.entity, given.primaryKey) else { return nil }
        known[id] = key
        return key
    }

    /// The key of an object that a relationship is to lead to; nil where others deleted it and the policy does without it.
    private mutating func destination(_ id: ManagedObjectID, _ owner: ManagedObjectID, _ name: String) throws
        -> ObjectKey?
    {
        if let key = try key(of: id) { return key }
        outcome.isMerged = true
        guard request.policy == .error else { return nil }
        throw leadsNowhere(owner, name, [id])
    }

    private func leadsNowhere(
        _ owner: ManagedObjectID,
        _ name: String,
        _ ids: [ManagedObjectID] = []
    ) -> ManagedObjectError {
        ManagedObjectError(
            .objectIsGone,
            "\(owner.entityName).\(name) leads to an object that others deleted",
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
                throw leadsNowhere(insertion.id, relationship.name, [id])
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

    /// Where in an object's attributes the values are that the writer wants, in its order.
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
                // Where others deleted it, the store's own value stays.
                if let destination = try destination(id, update.id, name) {
                    try writer.set(key, name, to: destination)
                }
            } else {
                try writer.set(key, name, to: nil)
            }
        }
    }

    /// Empties the to-ones that lead to what will be deleted, where this save leads them elsewhere.
    private mutating func letGoOfDoomed() throws {
        let doomed = Set(request.deletions.map(\.id))
        guard !doomed.isEmpty else { return }
        for (index, update) in request.updates.enumerated() {
            guard let base = update.base else { continue }
            let shape = try model.entity(base.id.entityName)
            for case (let name, .object(let id)) in update.values.sorted(by: { $0.key < $1.key }) {
                guard case .toOne(let number)? = shape.property(name), let former = base.toOnes[number],
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

    /// Brings an ordered relationship into the order asked for, as far as others did not move its members too.
    private mutating func arrange(_ link: SaveRequest.Link) throws {
        guard let order = link.order, let owner = try key(of: link.owner) else { return }
        let present = try writer.destinations(of: owner, link.relationship)
        let base = try link.base.compactMap { try key(of: $0) }
        let local = try order.compactMap { try key(of: $0) }
        // What this save added stands at the end for now, and not because anybody put it there.
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

    /// A value with its bytes, where they lie in a file.
    func readable(_ value: AttributeValue) throws -> AttributeValue {
        guard case .externalData(let file) = value else { return value }
        return .data(try store.externalData(file.fileName))
    }

    /// The object behind a key that the writer names, in the words of contexts.
    func id(of key: ObjectKey) -> ManagedObjectID {
        if let id = newKeys.first(where: { $0.value == key })?.key { return id }
        return insertionKeys.firstIndex(of: key).map { request.insertions[$0].id } ?? store.id(of: key)
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
