import TestSupport

extension SeededGenerator {
    /// Changes, drops, duplicates or inserts a few bytes, sometimes with boundary values.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !result.isEmpty {
            let place = Int.random(in: result.indices, using: &self)
            let edge =
                [0, 1, 0x0f, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &self)]
                .randomElement(using: &self) ?? 0
            switch Int.random(in: 0..<16, using: &self) {
            case 0..<6: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 6..<13: result[place] = edge
            case 13: result.insert(edge, at: place)
            case 14: result.remove(at: place)
            default:
                let end = min(result.count, place + Int.random(in: 1...40, using: &self))
                result.replaceSubrange(place..<end, with: Bool.random(using: &self) ? [] : result[place..<end] + [edge])
            }
        }
        return result
    }
}
