import TestSupport

/// Changes to a binary property list that keep its trailer and its table of offsets.
enum PropertyListChanges {
    static func changed(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8]? {
        guard bytes.count > 48, bytes.starts(with: "bplist00".utf8), !generator.once(in: 5) else { return nil }
        let trailer = bytes.count - 32
        let width = Int(bytes[trailer + 6])
        let references = Int(bytes[trailer + 7])
        let objects = number(bytes[trailer + 8..<trailer + 16])
        let table = number(bytes[trailer + 24..<trailer + 32])
        guard (1...8).contains(width), (1...8).contains(references), objects > 0, table > 8, table < trailer,
            objects <= (trailer - table) / width
        else { return nil }
        var bytes = bytes
        for _ in 0...generator.below(3) {
            let entry = table + width * generator.below(objects)
            let start = number(bytes[entry..<entry + width])
            guard start < table else { continue }
            switch generator.below(6) {
            case 0: bytes[start] = UInt8(generator.below(256))
            case 1: Mutation.change(&bytes, at: start, count: 1 + generator.below(12))
            case 2:
                // Changes an object's reference.
                let place = start + 1 + references * generator.below(16)
                guard place + references <= table else { continue }
                bytes[place + references - 1] = UInt8(truncatingIfNeeded: generator.below(objects))
            case 3:
                let other = table + width * generator.below(objects)
                for offset in 0..<width { bytes[entry + offset] = bytes[other + offset] }
            case 4: bytes[start] = bytes[start] & 0xF0 | UInt8(generator.below(16))
            default: Mutation.change(&bytes, at: start + 1, count: 1 + generator.below(32))
            }
        }
        return bytes
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & 0x7FFF_FFFF)
    }
}
