/// The part of a write-ahead log that readers see, according to the WAL index.
package struct WriteAheadLogExtent: Hashable {
    package let firstSalt: UInt32
    package let secondSalt: UInt32
    package let frames: Int
}
