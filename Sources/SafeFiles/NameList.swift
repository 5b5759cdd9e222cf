import Glibc

/// Sorted names packed into one block: a hundred thousand strings take three times as much memory.
package struct NameList: RandomAccessCollection, Hashable, Sendable {
    private var bytes: [UInt8] = []
    /// The end of each name in `bytes`.
    private var ends: [UInt32] = []

    package init() {}

    /// Sorts the names.
    package init(_ names: some Sequence<String>) {
        for name in names { append(name) }
        putInOrder()
    }

    /// Sorts the names and returns the former index of each; nil if they were sorted already.
    @discardableResult
    package mutating func putInOrder() -> [Int]? {
        if indices.dropFirst().allSatisfy({ !precedes($0, $0 - 1) }) { return nil }
        let places = indices.sorted { precedes($0, $1) }
        var ordered = NameList()
        ordered.bytes.reserveCapacity(bytes.count)
        ordered.ends.reserveCapacity(count)
        for place in places {
            ordered.bytes += bytes[range(place)]
            ordered.ends.append(UInt32(ordered.bytes.count))
        }
        self = ordered
        return places
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { ends.count }

    package subscript(position: Int) -> String { String(decoding: bytes[range(position)], as: UTF8.self) }

    /// Appends a name: one after all others, or any name before a call of ``putInOrder()``.
    package mutating func append(_ name: String) {
        bytes.append(contentsOf: name.utf8)
        ends.append(UInt32(bytes.count))
    }

    /// Reserves the memory of so many names: a list that grows takes up to twice its size.
    package mutating func reserveCapacity(_ count: Int, bytes byteCount: Int) {
        bytes.reserveCapacity(byteCount)
        ends.reserveCapacity(count)
    }

    /// The bytes of all names.
    package var byteCount: Int { bytes.count }

    /// The index of a name; nil if it is not in the list.
    package func place(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { wanted in
            var low = 0
            var high = count
            while low < high {
                let middle = (low + high) / 2
                switch compare(middle, UnsafeRawBufferPointer(wanted)) {
                case 0: return middle
                case ..<0: low = middle + 1
                default: high = middle
                }
            }
            return nil
        }
    }

    private func range(_ position: Int) -> Range<Int> {
        (position == 0 ? 0 : Int(ends[position - 1]))..<Int(ends[position])
    }

    private func precedes(_ one: Int, _ other: Int) -> Bool {
        bytes.withUnsafeBytes { compare(one, UnsafeRawBufferPointer(rebasing: $0[range(other)])) < 0 }
    }

    /// Negative, zero or positive as the name at `position` sorts before, equal to or after another.
    private func compare(_ position: Int, _ other: UnsafeRawBufferPointer) -> Int {
        bytes.withUnsafeBytes { bytes in
            let name = UnsafeRawBufferPointer(rebasing: bytes[range(position)])
            guard let start = name.baseAddress, let otherStart = other.baseAddress else {
                return name.count - other.count
            }
            let order = Int(memcmp(start, otherStart, Swift.min(name.count, other.count)))
            return order == 0 ? name.count - other.count : order
        }
    }
}

/// A value for each of many names, sorted by the names' bytes.
package struct NameTable<Value: Sendable>: RandomAccessCollection, Sendable {
    package private(set) var names: NameList
    private var values: [Value] = []

    package init() { names = NameList() }

    /// Sorts the names, which must be unique.
    package init(_ pairs: some Sequence<(String, Value)>) {
        self.init()
        for (name, value) in pairs { append(name, value) }
        putInOrder()
    }

    /// Reserves the memory of so many names, and of their values.
    package mutating func reserveCapacity(_ count: Int, bytes byteCount: Int) {
        names.reserveCapacity(count, bytes: byteCount)
        values.reserveCapacity(count)
    }

    /// Sorts names that were appended in any order.
    package mutating func putInOrder() {
        if let places = names.putInOrder() { values = places.map { values[$0] } }
    }

    /// The same names with other values.
    package func mapValues<Other>(_ transform: (Value) -> Other) -> NameTable<Other> {
        NameTable<Other>(names, values.map(transform))
    }

    fileprivate init(_ names: NameList, _ values: [Value]) {
        self.names = names
        self.values = values
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { values.count }

    package subscript(position: Int) -> (name: String, value: Value) { (names[position], values[position]) }
    package subscript(name: String) -> Value? { names.place(of: name).map { values[$0] } }

    /// Appends a name: one after all others, or any name before a call of ``putInOrder()``.
    package mutating func append(_ name: String, _ value: Value) {
        names.append(name)
        values.append(value)
    }
}

extension NameTable: Equatable where Value: Equatable {}
extension NameTable: Hashable where Value: Hashable {}

extension NameTable: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral pairs: (String, Value)...) { self.init(pairs) }
}

/// Encoded as a mapping.
extension NameTable: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: map { ($0.name, $0.value) }).encode(to: encoder)
    }
}

extension NameTable: Decodable where Value: Decodable {
    package init(from decoder: any Decoder) throws {
        self.init(try [String: Value](from: decoder).lazy.map { ($0.key, $0.value) })
    }
}
