import StoreFormat

/// When a side set each property, according to its history.
struct ChangeTimes {
    private struct Times {
        /// When the object was inserted, or changed in a way that cannot be decoded.
        var whole: Double?
        var properties: [String: Double] = [:]
    }

    private var times: [RowKey: Times] = [:]

    init() {}

    init(of side: MergeSide, after number: Int64) throws {
        guard let history = side.history else { return }
        var stamps: [Int64: Double] = [:]
        try history.forEachTransaction(reading: side.connection, after: number) { stamps[$0.number] = $0.timestamp }
        try history.forEachChange(reading: side.connection, after: number) { change in
            guard let entity = change.entity.flatMap(side.layout.entity(numbered:)), let key = change.primaryKey,
                let time = change.transaction.flatMap({ stamps[$0] })
            else { return }
            let row = side.keys.common(RowKey(root: entity.root, key: key))
            guard let properties = change.properties(in: side.layout) else {
                times[row, default: Times()].whole = max(times[row]?.whole ?? time, time)
                return
            }
            for name in properties.names + properties.possibleToMany {
                let known = times[row]?.properties[name] ?? time
                times[row, default: Times()].properties[name] = max(known, time)
            }
        }
    }

    /// When a property of an object was set last; nil if unknown.
    func time(of property: String, in row: RowKey) -> Double? {
        guard let times = times[row] else { return nil }
        return [times.properties[property], times.whole].compactMap { $0 }.max()
    }
}
