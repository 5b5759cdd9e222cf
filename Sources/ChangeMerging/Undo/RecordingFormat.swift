/// How a recorded merge lies in its file: a line that says what it is, then parts of a kind, a length and bytes.
///
/// The last part holds a checksum of all before it, so that a file that was torn off is known for one.
enum RecordingFormat {
    static let magic = Array("store-migrate recorded merge 1\n".utf8)
    /// Kind and length.
    static let headSize = 5
    static let greatestPart = 1 << 20

    enum Part: UInt8 {
        /// A ``RecordingHeader`` as JSON.
        case header = 0x48
        /// A piece of SQLite's changeset.
        case changes = 0x43
        /// An ``UnkeyedRow`` as JSON, which may take several parts; the last of them is a `row`.
        case rowPiece = 0x72
        case row = 0x52
        /// The name of a file of a large value; its bytes follow.
        case file = 0x46
        case fileBytes = 0x44
        case end = 0x45
    }

    /// FNV-1a: it tells a torn file from a whole one, and is no proof against anybody.
    struct Checksum {
        private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
    }
}

/// What a recorded merge says of itself.
struct RecordingHeader: Codable, Hashable, Sendable {
    /// The identifier of a Core Data store; nil for any other.
    let uuid: String?
    /// Tables of which SQLite records nothing, since they have no primary key, and nobody else did.
    let unseen: [String]
    /// How many changes each of them had seen: more at the end means that the merge wrote to it.
    var rows: [String: Int64]
    /// The header fields that the merge changed: what each was before, and after.
    var fields: [String: [Int64]]?
    /// What the merge defined anew, in the order in which it is to go.
    var created: [CreatedDefinition]?
}

/// A table, index, view or trigger that a merge made.
struct CreatedDefinition: Codable, Hashable, Sendable {
    let type: String
    let name: String
    /// The digest of its definition.
    let definition: String
    /// The digest of a table's rows as the merge left them.
    let rows: String?
}
