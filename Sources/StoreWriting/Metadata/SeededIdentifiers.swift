import StoreFormat

/// Generates UUIDs and bytes from a seed, so that building a store twice gives the same store.
package struct SeededIdentifiers: Sendable {
    private let seed: [UInt8]
    private var count: UInt64 = 0

    package init(seed: String) {
        self.seed = SHA256.digest(of: Array(seed.utf8))
    }

    /// Random identifiers, unique in practice, for stores that are not built from a recipe.
    package static func random() -> SeededIdentifiers {
        var generator = SystemRandomNumberGenerator()
        return SeededIdentifiers(seed: "\(generator.next()) \(generator.next()) \(generator.next())")
    }

    /// Returns the next UUID's sixteen bytes; version and variant are those of a random UUID.
    package mutating func next() -> [UInt8] {
        count += 1
        var input = seed
        for shift in stride(from: 56, through: 0, by: -8) { input.append(UInt8(truncatingIfNeeded: count >> shift)) }
        return Self.uuid(from: Array(SHA256.digest(of: input).prefix(16)))
    }

    /// Returns the next UUID as text, in upper case as Core Data writes it.
    package mutating func nextText() -> String {
        Self.text(of: next())
    }

    /// Returns the UUID of a name, independent of how many UUIDs were generated before.
    package func identifier(named name: String) -> [UInt8] {
        Self.uuid(from: Array(SHA256.digest(of: seed + Array(name.utf8)).prefix(16)))
    }

    /// Returns the 36-character text of a UUID's sixteen bytes.
    package static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var characters: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { characters.append(UInt8(ascii: "-")) }
            characters.append(digits[Int(byte >> 4)])
            characters.append(digits[Int(byte & 0x0F)])
        }
        return String(decoding: characters, as: UTF8.self)
    }

    private static func uuid(from bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes
    }
}
