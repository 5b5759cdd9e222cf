internal import StoreFormat

/// The values of an object.
///
/// Most objects have exactly the values of their row, and share it with the cache.
enum ObjectContent {
    /// None: the object is a fault.
    case nothing
    case row(RowSnapshot)
    case values(ObjectValues)

    /// A copy that later changes of the object do not reach, without prefetched destinations.
    func copied() -> ObjectContent {
        if case .values(let values) = self { .values(ObjectValues(copying: values)) } else { self }
    }
}

/// The values of an object that differs from its row, or of which destinations of to-many relationships were read.
final class ObjectValues {
    /// The row as last read or saved; nil before the first save.
    var base: RowSnapshot?
    /// All attributes, once one differs from the base.
    var attributes: [AttributeValue]?
    /// All destinations of to-one relationships, once one differs from the base.
    var toOnes: [ManagedObjectID?]?
    var toManys: [Int: ToManyValue] = [:]
    /// The attributes and to-one relationships that were set since the base was read.
    var changed: Set<ObjectShape.Property> = []
    /// The rank of its first change among the context's changes; saves keep that order.
    var order = 0
    /// The prefetched destinations by relationship, retained until the object becomes a fault.
    var prefetched: [String: [ManagedObject]] = [:]

    init(_ base: RowSnapshot?) { self.base = base }

    convenience init(copying other: ObjectValues) {
        self.init(other.base)
        attributes = other.attributes
        toOnes = other.toOnes
        toManys = other.toManys
        changed = other.changed
        order = other.order
    }

    /// True if the object has nothing but its row.
    private var isRowAlone: Bool {
        attributes == nil && toOnes == nil && toManys.isEmpty && changed.isEmpty && order == 0 && prefetched.isEmpty
    }

    func set(_ value: AttributeValue, at index: Int) {
        if attributes == nil { attributes = base?.attributes ?? [] }
        attributes?[index] = value
    }

    func setToOne(_ destination: ManagedObjectID?, at index: Int) {
        if toOnes == nil { toOnes = base?.toOnes ?? [] }
        toOnes?[index] = destination
    }

    /// Takes the values of another row, and reapplies unsaved changes of attributes and to-one relationships.
    fileprivate func rebase(on row: RowSnapshot, keepingChanges: Bool) -> ObjectContent {
        // A property that was set is in these lists, and a cleared relationship is nil there.
        let (formerAttributes, formerToOnes) = (attributes, toOnes)
        (base, attributes, toOnes) = (row, nil, nil)
        if !toManys.isEmpty { forgetDestinations() }
        for property in keepingChanges ? changed : [] {
            switch property {
            case .attribute(let index): if let formerAttributes { set(formerAttributes[index], at: index) }
            case .toOne(let index): if let formerToOnes { setToOne(formerToOnes[index], at: index) }
            case .toMany: break
            }
        }
        return isRowAlone ? .row(row) : .values(self)
    }

    /// Drops destinations that were read, and keeps changes.
    func forgetDestinations() { for index in toManys.keys { toManys[index]?.base = nil } }

    /// Drops everything but the rank of the first change.
    fileprivate func clear() -> ObjectContent {
        guard order != 0 else { return .nothing }
        (base, attributes, toOnes, toManys, changed, prefetched) = (nil, nil, nil, [:], [], [:])
        return .values(self)
    }
}

extension ManagedObject {
    /// The row as last read or saved; nil for a fault and before the first save.
    var base: RowSnapshot? {
        switch content {
        case .nothing: nil
        case .row(let row): row
        case .values(let values): values.base
        }
    }

    /// An attribute, by its index in the shape; null for a fault.
    func attribute(_ index: Int) -> AttributeValue {
        switch content {
        case .nothing: return .null
        case .row(let row): return row.attribute(index)
        case .values(let values):
            guard let attributes = values.attributes else { return values.base?.attribute(index) ?? .null }
            return attributes.indices.contains(index) ? attributes[index] : .null
        }
    }

    /// The destination of a to-one relationship, by its index in the shape; nil for a fault.
    func toOne(_ index: Int) -> ManagedObjectID? {
        switch content {
        case .nothing: return nil
        case .row(let row): return row.toOne(index)
        case .values(let values):
            guard let toOnes = values.toOnes else { return values.base?.toOne(index) }
            return toOnes.indices.contains(index) ? toOnes[index] : nil
        }
    }

    /// All attributes; none of a fault.
    var attributes: [AttributeValue] {
        switch content {
        case .nothing: []
        case .row(let row): row.attributes
        case .values(let values): values.attributes ?? values.base?.attributes ?? []
        }
    }

    /// All destinations of to-one relationships; none of a fault.
    var toOnes: [ManagedObjectID?] {
        switch content {
        case .nothing: []
        case .row(let row): row.toOnes
        case .values(let values): values.toOnes ?? values.base?.toOnes ?? []
        }
    }

    var toManys: [Int: ToManyValue] { if case .values(let values) = content { values.toManys } else { [:] } }
    var changed: Set<ObjectShape.Property> { if case .values(let values) = content { values.changed } else { [] } }
    var order: Int { if case .values(let values) = content { values.order } else { 0 } }
    var prefetched: [String: [ManagedObject]] {
        if case .values(let values) = content { values.prefetched } else { [:] }
    }

    /// The object's own values, for a change; an object that has none gets them.
    func ownValues() -> ObjectValues {
        if case .values(let values) = content { return values }
        let values = ObjectValues(base)
        content = .values(values)
        return values
    }

    /// Sets an attribute, and records the change.
    func set(_ value: AttributeValue, at index: Int) {
        let values = ownValues()
        values.set(value, at: index)
        values.changed.insert(.attribute(index))
    }

    /// Sets the destination of a to-one relationship, and records the change.
    func setToOne(_ destination: ManagedObjectID?, at index: Int) {
        let values = ownValues()
        values.setToOne(destination, at: index)
        values.changed.insert(.toOne(index))
    }

    /// Takes a value for each attribute, and no destinations of to-one relationships.
    func takeValues(_ value: (AttributeDescription) -> AttributeValue) {
        let values = ownValues()
        values.attributes = shape.attributes.map(value)
        values.toOnes = shape.toOnes.map { _ in nil }
    }

    /// Takes the values of its row, and reapplies unsaved changes.
    func take(_ row: RowSnapshot) {
        let keepsChanges = !status.contains(.fault)
        status.remove(.fault)
        if case .values(let values) = content {
            content = values.rebase(on: row, keepingChanges: keepsChanges)
        } else {
            content = .row(row)
        }
    }

    /// Drops its values and unsaved changes, as a fault.
    func dropValues() { if case .values(let values) = content { content = values.clear() } else { content = .nothing } }

    /// Drops the row that its values were read from, and keeps the values.
    func dropBase() {
        guard base != nil else { return }
        let values = ownValues()
        (values.attributes, values.toOnes) = (attributes, toOnes)
        values.base = nil
    }

    /// Drops read destinations of to-many relationships but keeps unsaved changes; false when none were read.
    @discardableResult
    func forgetDestinations() -> Bool {
        guard case .values(let values) = content, values.toManys.contains(where: { $0.value.base != nil }) else {
            return false
        }
        values.forgetDestinations()
        return true
    }

    /// Replaces the IDs of to-one destinations that are not saved.
    func renameDestinations(_ renamed: (ManagedObjectID) -> ManagedObjectID) {
        switch content {
        case .nothing: return
        case .row(let row): guard row.mayLeadToNewObjects else { return }
        case .values(let values): guard values.toOnes != nil || values.base?.mayLeadToNewObjects == true else { return }
        }
        let former = toOnes
        let new = former.map { $0.map(renamed) }
        if new != former { ownValues().toOnes = new }
    }
}
