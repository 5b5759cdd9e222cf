/// The part of a write-ahead log that readers are told of.
struct WriteAheadLogExtent: Hashable {
    let firstSalt: UInt32
    let secondSalt: UInt32
    let frames: Int
}
