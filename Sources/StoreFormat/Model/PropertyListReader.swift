/// Decodes property lists: the binary form, which Core Data writes, and the XML form.
///
/// The bytes may be hostile: depth, input size and output size are limited, and no input traps.
package enum PropertyListReader {
    /// The maximum depth of a property list; genuine ones stay below ten.
    static let depthLimit = 128

    /// Decodes one property list, of either form.
    package static func value(from bytes: [UInt8]) throws -> PropertyListValue {
        if bytes.starts(with: BinaryPropertyListReader.signature) {
            var reader = try BinaryPropertyListReader(bytes)
            return try reader.topValue()
        }
        if bytes.contains(UInt8(ascii: "<")) {
            var reader = XMLPropertyListReader(bytes)
            return try reader.topValue()
        }
        throw UndecodableData("the bytes are not a property list")
    }
}

/// A value of a property list.
public indirect enum PropertyListValue: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case data([UInt8])
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
    /// A reference inside a keyed archive.
    case uid(Int)
}

/// Decodes a binary property list (`bplist00`).
struct BinaryPropertyListReader {
    static let signature = Array("bplist00".utf8)

    /// The maximum number of values in one list: objects may be shared, and sharing multiplies.
    private static let valueLimit = 8_000_000

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: Int
    private let topObject: Int
    private let offsetTable: Int
    /// The values decoded so far, by object; a shared object is decoded once.
    private var values: [PropertyListValue?]
    /// The number of values in each decoded object; negative while it is being decoded.
    private var weights: [Int]
    /// The remaining number of bytes to copy out of the list, overlapping objects counted each time.
    private var budget: Int

    /// Reads the trailer.
    init(_ bytes: [UInt8]) throws {
        guard bytes.count >= Self.signature.count + 32, bytes.starts(with: Self.signature) else {
            throw UndecodableData("the property list is too short")
        }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard
            (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let objectCount = Self.integer(bytes[trailer + 8..<trailer + 16]),
            let topObject = Self.integer(bytes[trailer + 16..<trailer + 24]),
            let offsetTable = Self.integer(bytes[trailer + 24..<trailer + 32]),
            objectCount > 0, topObject < objectCount, offsetTable <= trailer,
            objectCount <= (trailer - offsetTable) / offsetSize
        else { throw UndecodableData("the trailer of the property list is malformed") }
        self.bytes = bytes
        self.objectCount = objectCount
        self.topObject = topObject
        self.offsetTable = offsetTable
        values = Array(repeating: nil, count: objectCount)
        weights = Array(repeating: 0, count: objectCount)
        budget = 64 * bytes.count + 4096
    }

    /// Decodes the list's one root.
    mutating func topValue() throws -> PropertyListValue {
        try value(of: topObject, depth: 0)
    }

    // MARK: Objects

    private mutating func value(of object: Int, depth: Int) throws -> PropertyListValue {
        if let value = values[object] { return value }
        guard weights[object] >= 0 else { throw UndecodableData("the property list contains itself") }
        guard depth < PropertyListReader.depthLimit else {
            throw UndecodableData("the property list is nested too deeply")
        }
        weights[object] = -1
        var weight = 1
        let value = try decode(object, depth: depth, weight: &weight)
        values[object] = value
        weights[object] = weight
        return value
    }

    private mutating func decode(_ object: Int, depth: Int, weight: inout Int) throws -> PropertyListValue {
        let entry = offsetTable + object * offsetSize
        guard let start = Self.integer(bytes[entry..<entry + offsetSize]), start < offsetTable else {
            throw UndecodableData("an object is outside the property list")
        }
        let marker = bytes[start]
        let low = Int(marker & 0x0f)
        switch marker >> 4 {
        case 0x0:
            if marker == 0x08 { return .boolean(false) }
            if marker == 0x09 { return .boolean(true) }
        case 0x1 where low <= 4:
            return Self.number(try slice(at: start + 1, count: 1 << low))
        case 0x2 where low == 2:
            let bits = try slice(at: start + 1, count: 4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return .real(Double(Float(bitPattern: bits)))
        case 0x2 where low == 3:
            return .real(Double(bitPattern: Self.bits(try slice(at: start + 1, count: 8))))
        case 0x3 where low == 3:
            return .date(Double(bitPattern: Self.bits(try slice(at: start + 1, count: 8))))
        case 0x4:
            let (first, count) = try extent(at: start)
            return .data([UInt8](try copied(at: first, count: count)))
        case 0x5:
            let (first, count) = try extent(at: start)
            return .string(String(decoding: try copied(at: first, count: count), as: UTF8.self))
        case 0x6:
            let (first, count) = try extent(at: start)
            guard count <= bytes.count else { break }
            let text = try copied(at: first, count: 2 * count)
            let units = stride(from: text.startIndex, to: text.endIndex, by: 2)
                .map { UInt16(text[$0]) << 8 | UInt16(text[$0 + 1]) }
            return .string(String(decoding: units, as: UTF16.self))
        case 0x8 where low < 8:
            guard let uid = Self.integer(try slice(at: start + 1, count: low + 1)) else { break }
            return .uid(uid)
        case 0xA, 0xB, 0xC:
            let (first, count) = try extent(at: start)
            return .array(try members(at: first, count: count, depth: depth, weight: &weight))
        case 0xD:
            let (first, count) = try extent(at: start)
            guard count <= bytes.count else { break }
            let members = try members(at: first, count: 2 * count, depth: depth, weight: &weight)
            return .dictionary(try Self.dictionary(keys: members[..<count], values: members[count...]))
        default: break
        }
        throw UndecodableData("the property list contains an object of an unknown kind")
    }

    private mutating func members(
        at first: Int,
        count: Int,
        depth: Int,
        weight: inout Int
    ) throws -> [PropertyListValue] {
        guard count <= bytes.count else { throw UndecodableData("a collection is longer than the property list") }
        let references = try copied(at: first, count: count * referenceSize)
        var result: [PropertyListValue] = []
        result.reserveCapacity(count)
        for position in stride(from: references.startIndex, to: references.endIndex, by: referenceSize) {
            guard
                let object = Self.integer(references[position..<position + referenceSize]), object < objectCount
            else { throw UndecodableData("a collection refers to a missing object") }
            result.append(try value(of: object, depth: depth + 1))
            weight += weights[object]
            guard weight <= Self.valueLimit else { throw UndecodableData("the property list unfolds into too much") }
        }
        return result
    }

    private static func dictionary(
        keys: ArraySlice<PropertyListValue>,
        values: ArraySlice<PropertyListValue>
    ) throws -> [String: PropertyListValue] {
        var result: [String: PropertyListValue] = [:]
        result.reserveCapacity(keys.count)
        for (key, value) in zip(keys, values) {
            guard case .string(let key) = key else { throw UndecodableData("a dictionary has a key that is no string") }
            result[key] = value
        }
        return result
    }

    // MARK: Bytes

    /// The start of an object's content, and the count in its marker or in the integer after it.
    private func extent(at start: Int) throws -> (first: Int, count: Int) {
        let low = Int(bytes[start] & 0x0f)
        guard low == 0x0f else { return (start + 1, low) }
        let marker = try slice(at: start + 1, count: 1)
        let width = 1 << Int((marker.first ?? 0) & 0x0f)
        guard
            let kind = marker.first, kind >> 4 == 0x1, width <= 8,
            let count = Self.integer(try slice(at: start + 2, count: width))
        else { throw UndecodableData("an object of the property list has no valid length") }
        return (start + 2 + width, count)
    }

    private func slice(at first: Int, count: Int) throws -> ArraySlice<UInt8> {
        guard first >= 0, count >= 0, first <= offsetTable, count <= offsetTable - first else {
            throw UndecodableData("an object reaches beyond the property list")
        }
        return bytes[first..<first + count]
    }

    private mutating func copied(at first: Int, count: Int) throws -> ArraySlice<UInt8> {
        budget -= min(count, bytes.count)
        guard budget >= 0 else { throw UndecodableData("the objects of the property list overlap too often") }
        return try slice(at: first, count: count)
    }

    private static func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// A big-endian unsigned integer; nil if it does not fit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bits(bytes))
    }

    /// Integers of eight bytes are signed, shorter ones are not; sixteen bytes are for values beyond the signed range.
    private static func number(_ bytes: ArraySlice<UInt8>) -> PropertyListValue {
        guard bytes.count == 16 else { return .integer(Int64(truncatingIfNeeded: bits(bytes))) }
        let low = bits(bytes)
        switch bits(bytes.prefix(8)) {
        case 0 where low <= UInt64(Int64.max): return .integer(Int64(truncatingIfNeeded: low))
        case UInt64.max where low > UInt64(Int64.max): return .integer(Int64(truncatingIfNeeded: low))
        case let high: return .real(Double(Int64(bitPattern: high)) * 0x1p64 + Double(low))
        }
    }
}
