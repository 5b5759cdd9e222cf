import StoreAccess
import StoreFormat

extension RowWriter {
    /// The distance between the order keys of neighbours, which leaves room for insertions.
    static var orderSpacing: Int64 { 1024 }

    /// Sorts the destinations of an ordered relationship into this order; they must be its destinations.
    ///
    /// Only order keys that must change are written: Core Data leaves gaps for that. A symmetric relationship has one
    /// order key for both its ends, so it has no order.
    package func arrange(_ owner: ObjectKey, _ name: String, in order: [ObjectKey]) throws {
        let relationship = try self.relationship(name, of: owner)
        guard let places = try places(of: owner, relationship) else {
            if case .manyToMany(_, let side, let other) = relationship.storage, relationship.description.isOrdered,
                StoreLayout.JoinTable.isReflexive(side, other)
            {
                return
            }
            throw unfit("\(owner.entity).\(name) is not an ordered relationship")
        }
        guard order.count == places.count, order.allSatisfy({ places[$0] != nil }), Set(order).count == order.count
        else { throw unfit("the order given for \(owner.entity).\(name) is not one of its objects") }
        let new = try Self.places(order.map { places[$0] ?? nil }, path: connection.location.path)
        for (destination, place) in zip(order, new) where places[destination] != .some(place) {
            try write(place, of: destination, in: owner, relationship)
        }
    }

    /// The order key of each destination; nil if the relationship keeps none.
    private func places(
        of owner: ObjectKey,
        _ relationship: StoreLayout.Relationship
    ) throws -> [ObjectKey: Int64?]? {
        let (table, column, key): (String, String, String)
        switch relationship.storage {
        case .oneToMany(let destinations, let foreign):
            guard let order = foreign.orderColumn else { return nil }
            (table, column, key) = (destinations, order, foreign.column)
        case .manyToMany(let joins, let side, let other):
            guard let order = side.orderColumn, !StoreLayout.JoinTable.isReflexive(side, other) else { return nil }
            (table, column, key) = (joins, order, side.column)
        case .toOne: return nil
        }
        let member = if case .manyToMany(_, _, let other) = relationship.storage { other.column } else { "Z_PK" }
        var found: [Int64: Int64?] = [:]
        try connection.forEachRow(
            "SELECT \(SQLName.quoted(member)), \(SQLName.quoted(column)) FROM \(SQLName.quoted(table)) "
                + "WHERE \(SQLName.quoted(key)) = ?",
            [.integer(owner.primaryKey)]
        ) { row in found[row.integer(0)] = .some(row.value(1).integer) }
        let destinations = try self.destinations(of: owner, relationship)
        return Dictionary(uniqueKeysWithValues: destinations.map { ($0, found[$0.primaryKey] ?? nil) })
    }

    private func write(
        _ place: Int64,
        of destination: ObjectKey,
        in owner: ObjectKey,
        _ relationship: StoreLayout.Relationship
    ) throws {
        switch relationship.storage {
        case .oneToMany(_, let key):
            guard let column = key.orderColumn else { return }
            let slot = relationship.description.inverse.map(HistorySlots.Slot.property) ?? .hidden
            try update(destination, ["\(SQLName.quoted(column)) = ?"], [.integer(place)], changing: [slot])
            try touch(owner, [.oneToMany])
        case .manyToMany(let table, let side, let other):
            guard let column = side.orderColumn else { return }
            try connection.run(
                "UPDATE \(SQLName.quoted(table)) SET \(SQLName.quoted(column)) = ? "
                    + "WHERE \(SQLName.quoted(side.column)) = ? AND \(SQLName.quoted(other.column)) = ?",
                [.integer(place), .integer(owner.primaryKey), .integer(destination.primaryKey)]
            )
            try touch(owner, [.manyToMany])
        case .toOne: break
        }
    }

    /// Finds ascending order keys for objects in a new order, keeping as many of the present ones as possible.
    ///
    /// If a gap is too small, all order keys are assigned anew.
    static func places(_ present: [Int64?], path: String) throws(StoreError) -> [Int64] {
        let kept = longestAscent(present)
        var result: [Int64] = []
        for (index, place) in present.enumerated() {
            if let place, kept.contains(index) {
                result.append(place)
                continue
            }
            let last = result.last ?? 0
            let next = present.indices[index...].first(where: kept.contains)
            guard let next, let limit = present[next] else {
                let (following, overflow) = last.addingReportingOverflow(orderSpacing)
                guard !overflow else { throw StoreError(.damaged, path: path, "the order keys are used up") }
                result.append(following)
                continue
            }
            let step = (limit - last) / Int64(next - index + 1)
            guard step > 0 else { return present.indices.map { (Int64($0) + 1) * orderSpacing } }
            result.append(last + step)
        }
        return result
    }

    /// The positions of a longest ascending subsequence of order keys above zero.
    private static func longestAscent(_ places: [Int64?]) -> Set<Int> {
        // The position at the end of the best run of each length, and each position's predecessor in its run.
        var ends: [Int] = []
        var before: [Int: Int] = [:]
        for (index, place) in places.enumerated() {
            guard let place, place > 0 else { continue }
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if places[ends[middle]] ?? 0 < place { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var result: Set<Int> = []
        var next = ends.last
        while let index = next {
            result.insert(index)
            next = before[index]
        }
        return result
    }

    /// The order key after the last one in an ordered relationship of `owner`.
    func nextOrder(
        _ table: String,
        _ orderColumn: String,
        where column: String,
        is owner: ObjectKey
    ) throws -> SQLValue {
        let last = try connection.value(
            "SELECT max(\(SQLName.quoted(orderColumn))) FROM \(SQLName.quoted(table)) "
                + "WHERE \(SQLName.quoted(column)) = ?",
            [.integer(owner.primaryKey)]
        )
        let (next, overflow) = (last?.integer ?? 0).addingReportingOverflow(Self.orderSpacing)
        guard !overflow else { throw damaged("the order keys of \(table) are used up") }
        return .integer(next)
    }
}
