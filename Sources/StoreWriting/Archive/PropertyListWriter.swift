package import StoreFormat

/// Writes binary property lists (`bplist00`); equal values give equal bytes.
///
/// Source: the opening comment of CoreFoundation's `CFBinaryPList.c`. Scalars are written once and referred to, and
/// dictionary keys are in the order of their UTF-8 bytes, which makes the bytes reproducible.
package struct PropertyListWriter {
    private enum Node {
        case scalar(PropertyListValue)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    private var nodes: [Node] = []
    private var scalars: [PropertyListValue: Int] = [:]

    private init() {}

    /// Returns the bytes of the property list whose root is `value`.
    package static func bytes(of value: PropertyListValue) -> [UInt8] {
        var writer = PropertyListWriter()
        let root = writer.add(value)
        return writer.encoded(root: root)
    }

    /// Numbers `value` and everything in it; parents come before their children, as in Apple's files.
    private mutating func add(_ value: PropertyListValue) -> Int {
        switch value {
        case .array(let elements):
            let index = reserve()
            nodes[index] = .array(elements.map { add($0) })
            return index
        case .dictionary(let dictionary):
            let index = reserve()
            let names = dictionary.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            let keys = names.map { add(.string($0)) }
            let values = names.map { add(dictionary[$0] ?? .string("")) }
            nodes[index] = .dictionary(keys: keys, values: values)
            return index
        default:
            if let known = scalars[value] { return known }
            nodes.append(.scalar(value))
            scalars[value] = nodes.count - 1
            return nodes.count - 1
        }
    }

    private mutating func reserve() -> Int {
        nodes.append(.array([]))
        return nodes.count - 1
    }

    private func encoded(root: Int) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        let referenceSize = Self.width(of: nodes.count)
        var offsets: [Int] = []
        offsets.reserveCapacity(nodes.count)
        for node in nodes {
            offsets.append(bytes.count)
            switch node {
            case .scalar(let value):
                Self.append(value, to: &bytes)
            case .array(let elements):
                Self.appendMarker(0xA0, count: elements.count, to: &bytes)
                for element in elements { Self.append(UInt64(element), width: referenceSize, to: &bytes) }
            case .dictionary(let keys, let values):
                Self.appendMarker(0xD0, count: keys.count, to: &bytes)
                for element in keys + values { Self.append(UInt64(element), width: referenceSize, to: &bytes) }
            }
        }
        let table = bytes.count
        let offsetSize = Self.width(of: table)
        for offset in offsets { Self.append(UInt64(offset), width: offsetSize, to: &bytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [nodes.count, root, table] { Self.append(UInt64(number), width: 8, to: &bytes) }
        return bytes
    }
}

extension PropertyListWriter {
    /// The number of bytes (1, 2, 4 or 8) that numbers up to `number` need.
    private static func width(of number: Int) -> Int {
        switch number {
        case ...0xFF: 1
        case ...0xFFFF: 2
        case ...0xFFFF_FFFF: 4
        default: 8
        }
    }

    private static func append(_ number: UInt64, width: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: (width - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    private static func appendMarker(_ marker: UInt8, count: Int, to bytes: inout [UInt8]) {
        if count < 15 {
            bytes.append(marker | UInt8(count))
        } else {
            bytes.append(marker | 0x0F)
            append(.integer(Int64(count)), to: &bytes)
        }
    }

    private static func append(_ value: PropertyListValue, to bytes: inout [UInt8]) {
        switch value {
        case .boolean(let flag):
            bytes.append(flag ? 0x09 : 0x08)
        case .integer(let number):
            // Only eight-byte integers are signed.
            let width = number < 0 ? 8 : width(of: Int(number))
            bytes.append(0x10 | UInt8(width.trailingZeroBitCount))
            append(UInt64(bitPattern: number), width: width, to: &bytes)
        case .real(let number):
            bytes.append(0x23)
            append(number.bitPattern, width: 8, to: &bytes)
        case .date(let seconds):
            bytes.append(0x33)
            append(seconds.bitPattern, width: 8, to: &bytes)
        case .data(let data):
            appendMarker(0x40, count: data.count, to: &bytes)
            bytes += data
        case .string(let string):
            if string.utf8.allSatisfy({ $0 < 0x80 }) {
                appendMarker(0x50, count: string.utf8.count, to: &bytes)
                bytes += string.utf8
            } else {
                appendMarker(0x60, count: string.utf16.count, to: &bytes)
                for unit in string.utf16 { append(UInt64(unit), width: 2, to: &bytes) }
            }
        case .uid(let number):
            let width = width(of: number)
            bytes.append(0x80 | UInt8(width - 1))
            append(UInt64(bitPattern: Int64(number)), width: width, to: &bytes)
        case .array, .dictionary:
            // Containers are nodes of their own and never reach this switch.
            break
        }
    }
}
