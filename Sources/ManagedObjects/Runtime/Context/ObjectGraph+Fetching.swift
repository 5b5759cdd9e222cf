extension ObjectGraph {
    /// Returns the objects of rows that were just read; registered objects keep their values.
    ///
    /// `rows` must not repeat an ID. With `isFilling`, fills all faults.
    func objects(for rows: [RowSnapshot], isFilling: Bool = false) throws -> [ManagedObject] {
        let model = try source.shape()
        var result: [ManagedObject] = []
        result.reserveCapacity(rows.count)
        var new: [RowSnapshot] = []
        // Consecutive rows usually have the same entity: reuse its maker.
        var maker: Maker?
        // An empty context need not search for objects, which would take a tenth of a fetch.
        let mayBeRegistered = registeredCount > 0
        for row in rows {
            if mayBeRegistered, let object = registered(row.id) {
                if object.isFault { takeEntity(of: row, for: object) }
                result.append(object)
                continue
            }
            let current: Maker
            if let maker, maker.shape.name == row.id.entityName {
                current = maker
            } else {
                let shape = try model.entity(row.id.entityName)
                current = Maker(shape: shape, type: source.type(of: shape))
                maker = current
                reserve(rows.count - result.count)
            }
            result.append(make(row.id, current, [.fault, .holdsRow]))
            new.append(row)
        }
        source.retain(new)
        if isFilling {
            for (object, row) in zip(result, rows) where object.isFault {
                fill(object, from: row)
                object.awakeFromFetch()
            }
        }
        return result
    }
}

extension ObjectGraph {
    /// Reads the rows of faults in as few queries as possible, so that an access needs no read.
    func holdRows(of faults: [ManagedObject]) throws {
        let missing = faults.filter { !$0.status.contains(.holdsRow) && !$0.objectID.isTemporaryID }
        let rows = try source.rows(of: missing.map(\.objectID))
        let present = Set(rows.map(\.id))
        source.retain(rows)
        for object in missing where present.contains(object.objectID) { object.status.insert(.holdsRow) }
        _ = try source.rows(of: faults.filter { $0.status.contains(.holdsRow) }.map(\.objectID), maximumAge: nil)
    }
}

/// A weak reference to a graph, which all of its objects share: a weak reference in each would take a tenth of a fetch.
final class GraphReference {
    weak var graph: ObjectGraph?
}

/// A registered object that the context does not retain, found in a set by its ID; eight bytes.
///
/// The object unregisters itself in its deinit. A subclass may still use its context then, when a weak reference
/// already returns nil. An object of a plain class runs no code between its last release and unregistering, all inside one context,
/// so its address is enough. A weak reference for each object would cost more than the rest of the bookkeeping.
struct ObjectReference: Hashable {
    private enum Form {
        case plain(Unmanaged<ManagedObject>)
        case custom(WeakReference)
        /// Only to search for an object.
        case id(ManagedObjectID)
    }

    private final class WeakReference {
        weak var object: ManagedObject?
        let identity: ObjectIdentifier
        let id: ManagedObjectID

        init(_ object: ManagedObject) {
            self.object = object
            identity = ObjectIdentifier(object)
            id = object.objectID
        }
    }

    private let form: Form

    init(_ object: ManagedObject) {
        let isPlain = type(of: object) == type(of: object).plainClass
        form = isPlain ? .plain(Unmanaged.passUnretained(object)) : .custom(WeakReference(object))
    }

    init(to id: ManagedObjectID) { form = .id(id) }

    var object: ManagedObject? {
        switch form {
        case .plain(let object): object.takeUnretainedValue()
        case .custom(let reference): reference.object
        case .id: nil
        }
    }

    /// True for a reference to `object`, which may be in its deinit.
    func leads(to object: ObjectIdentifier) -> Bool {
        switch form {
        case .plain(let plain):
            UnsafeRawPointer(plain.toOpaque()) == UnsafeRawPointer(bitPattern: UInt(bitPattern: object))
        case .custom(let reference): reference.identity == object
        case .id: false
        }
    }

    /// The object's ID; while it is registered, it changes to an equal one only.
    private var id: ManagedObjectID {
        switch form {
        case .plain(let object): object._withUnsafeGuaranteedRef(\.objectID)
        case .custom(let reference): reference.id
        case .id(let id): id
        }
    }

    static func == (first: ObjectReference, second: ObjectReference) -> Bool { first.id == second.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
