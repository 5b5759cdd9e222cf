/// SplitMix64: the same numbers in every run, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var result = state
        result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
        result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
        return result ^ (result >> 31)
    }

    /// Changes, drops, doubles or inserts a few bytes, some of them to values that are edges of something.
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
