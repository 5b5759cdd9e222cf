/// A 128-bit hash with a random key, for comparing multisets within one process.
///
/// It follows wyhash's construction: folded full-width products. The key prevents a hostile file from containing entries
/// that cancel out; the values must never be stored.
struct KeyedHash: Sendable {
    private let low: UInt64
    private let high: UInt64
    private let lowKey: UInt64
    private let highKey: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        low = generator.next()
        high = generator.next()
        lowKey = generator.next() | 1
        highKey = generator.next() | 1
    }

    /// Creates a hash with a new random key.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// The state of one hash computation.
    struct State {
        fileprivate(set) var low: UInt64
        fileprivate(set) var high: UInt64
    }

    @inline(__always)
    var start: State { State(low: low, high: high) }

    @inline(__always)
    func absorb(_ first: UInt64, _ second: UInt64, into state: inout State) {
        state.low = Self.fold(state.low ^ first, second ^ lowKey)
        state.high = Self.fold(state.high ^ second, first ^ highKey)
    }

    /// Absorbs bytes with their length and a tag for their kind.
    @inline(__always)
    func absorb(_ bytes: UnsafeRawBufferPointer, tag: UInt64, into state: inout State) {
        absorb(tag, UInt64(truncatingIfNeeded: bytes.count), into: &state)
        guard let base = bytes.baseAddress else { return }
        var offset = 0
        while bytes.count &- offset >= 16 {
            absorb(Self.word(base, offset), Self.word(base, offset &+ 8), into: &state)
            offset &+= 16
        }
        let rest = bytes.count &- offset
        switch rest {
        case 0: break
        case 8...: absorb(Self.word(base, offset), Self.word(base, bytes.count &- 8), into: &state)
        case 4...: absorb(Self.half(base, offset), Self.half(base, bytes.count &- 4), into: &state)
        default:
            let first = UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
            let middle = UInt64(base.load(fromByteOffset: offset &+ rest / 2, as: UInt8.self))
            let last = UInt64(base.load(fromByteOffset: bytes.count &- 1, as: UInt8.self))
            absorb(first << 16 | middle << 8 | last, 0, into: &state)
        }
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inline(__always)
    private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inline(__always)
    private static func half(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
