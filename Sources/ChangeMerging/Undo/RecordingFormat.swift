/// The file format of a recorded merge: a magic line, then parts with a kind, a length and bytes.
///
/// The last part contains a checksum of everything before it, so that a torn file is detected.
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
        /// An ``UnkeyedRow`` that was updated in place: its key and its changed columns.
        case update = 0x55
        /// Begins the next large value of a row; its bytes follow.
        case value = 0x56
        case valueBytes = 0x76
        /// The name of an external file; its bytes follow.
        case file = 0x46
        case fileBytes = 0x44
        case end = 0x45
    }

    /// FNV-1a, which detects a torn file.
    ///
    /// It does not protect against forgery.
    struct Checksum {
        private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
    }
}

/// The header of a recorded merge.
struct RecordingHeader: Codable, Hashable, Sendable {
    /// The identifier of a Core Data store; nil for any other.
    let uuid: String?
    /// Tables without a primary key, whose rows neither SQLite nor the merge recorded.
    let unseen: [String]
    /// The number of rows in each of them: a difference at the end means that the merge wrote to it.
    var rows: [String: Int64]
    /// The header fields that the merge changed: the value before, and after.
    var fields: [String: [Int64]]?
    /// The definitions that the merge created, in the order in which to drop them.
    var created: [CreatedDefinition]?
}

/// A table, index, view or trigger that a merge created.
struct CreatedDefinition: Codable, Hashable, Sendable {
    let type: String
    let name: String
    /// The digest of its definition.
    let definition: String
    /// The digest of a table's rows after the merge.
    let rows: String?
}
