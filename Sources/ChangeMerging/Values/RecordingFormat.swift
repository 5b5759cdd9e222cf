import CSQLite
import FoundationEssentials
import SafeFiles
import StoreAccess

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

/// One row of a recorded merge, inverted: a row that the merge inserted is to be deleted, and vice versa.
struct RecordedChange {
    enum Kind {
        case insert, update, delete
    }

    let kind: Kind
    let table: String
    /// The indices of the primary key's columns.
    let keyColumns: [Int]
    /// The values that the merge wrote and the rollback removes or changes; nil for a column that the merge did not
    /// change.
    let before: [SQLValue?]
    /// The values after the rollback; nil likewise.
    let after: [SQLValue?]

    /// The key of the row.
    var key: [SQLValue] { keyColumns.map { (kind == .insert ? after[$0] : before[$0]) ?? .null } }

    /// The columns whose value changes.
    var columns: [Int] { after.indices.filter { after[$0] != nil && !keyColumns.contains($0) } }

    /// Reads the iterator's current change; nil if it cannot be read.
    init?(_ iterator: OpaquePointer?) {
        var name: UnsafePointer<CChar>?
        var (count, operation, indirect): (Int32, Int32, Int32) = (0, 0, 0)
        var flags: UnsafeMutablePointer<UInt8>?
        guard sqlite3changeset_op(iterator, &name, &count, &operation, &indirect) == SQLITE_OK, let name,
            sqlite3changeset_pk(iterator, &flags, nil) == SQLITE_OK, let flags
        else { return nil }
        table = String(cString: name)
        keyColumns = (0..<Int(count)).filter { flags[$0] != 0 }
        switch operation {
        case SQLITE_INSERT: kind = .insert
        case SQLITE_DELETE: kind = .delete
        default: kind = .update
        }
        let hasBefore = operation != SQLITE_INSERT
        let hasAfter = operation != SQLITE_DELETE
        before = (0..<count).map { hasBefore ? Self.value(iterator, $0, sqlite3changeset_old) : nil }
        after = (0..<count).map { hasAfter ? Self.value(iterator, $0, sqlite3changeset_new) : nil }
    }

    private typealias Getter = (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32

    private static func value(_ iterator: OpaquePointer?, _ column: Int32, _ get: Getter) -> SQLValue? {
        var pointer: OpaquePointer?
        guard get(iterator, column, &pointer) == SQLITE_OK, let pointer else { return nil }
        return SQLValue(copying: pointer)
    }
}

extension RecordingReader {
    /// Calls `body` with each change, inverted, in order.
    func forEachChange(_ body: (RecordedChange) throws -> Void) throws {
        let input = ChangesetInput(self)
        try withExtendedLifetime(input) {
            var iterator: OpaquePointer?
            // SQLITE_CHANGESETSTART_INVERT
            let code = sqlite3changeset_start_v2_strm(&iterator, ChangesetInput.callback, input.pointer, 2)
            defer { sqlite3changeset_finalize(iterator) }
            guard code == SQLITE_OK else { throw damaged("its changes cannot be read") }
            while true {
                let code = sqlite3changeset_next(iterator)
                if code == SQLITE_DONE { return }
                guard code == SQLITE_ROW, let change = RecordedChange(iterator) else {
                    throw input.error ?? damaged("its changes cannot be read")
                }
                try body(change)
            }
        }
    }
}

/// Reads the file of a recorded merge; the checksum is verified before any part is used.
final class RecordingReader {
    struct Place {
        let part: RecordingFormat.Part
        let offset: Int64
        let count: Int
    }

    private let file: DurableFile
    private(set) var places: [Place] = []
    /// The kept large values, by their numbers: where in ``places`` their pieces are.
    private var values: [Range<Int>] = []
    private(set) var header = RecordingHeader(uuid: nil, unseen: [], rows: [:])

    init(_ file: DurableFile) throws {
        self.file = file
        let size = try file.status().size
        var checksum = RecordingFormat.Checksum()
        var offset = Int64(RecordingFormat.magic.count)
        let start = try bytes(at: 0, count: RecordingFormat.magic.count)
        guard start == RecordingFormat.magic else { throw damaged("it is not the record of a merge") }
        start.withUnsafeBytes { checksum.add($0) }
        while true {
            let head = try bytes(at: offset, count: RecordingFormat.headSize)
            let count = Int(head[1]) | Int(head[2]) << 8 | Int(head[3]) << 16 | Int(head[4]) << 24
            guard let part = RecordingFormat.Part(rawValue: head[0]), count <= RecordingFormat.greatestPart,
                Int64(count) <= size - offset
            else { throw damaged("a part of it cannot be read") }
            let body = try bytes(at: offset + Int64(RecordingFormat.headSize), count: count)
            if part == .end {
                let sum = body.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                guard count == 8, sum == checksum.value else { throw damaged("its checksum is wrong") }
                break
            }
            head.withUnsafeBytes { checksum.add($0) }
            body.withUnsafeBytes { checksum.add($0) }
            if part == .header { header = try RecordCoding.decoder().decode(RecordingHeader.self, from: Data(body)) }
            let place = Place(part: part, offset: offset + Int64(RecordingFormat.headSize), count: count)
            if part != .header { places.append(place) }
            if part == .value { values.append(places.count..<places.count) }
            if part == .valueBytes, let last = values.popLast() { values.append(last.lowerBound..<places.count) }
            offset += Int64(RecordingFormat.headSize + count)
        }
    }

    /// The bytes of a part.
    func bytes(of place: Place) throws -> [UInt8] { try bytes(at: place.offset, count: place.count) }

    /// The rows that SQLite's session extension does not see, the last one first.
    func forEachRowBackwards(_ body: (UnkeyedRow) throws -> Void) throws {
        var pieces: [Place] = []
        func finish() throws {
            guard !pieces.isEmpty else { return }
            var whole: [UInt8] = []
            for piece in pieces.reversed() { whole += try bytes(of: piece) }
            pieces = []
            try body(try RecordCoding.decoder().decode(UnkeyedRow.self, from: Data(whole)))
        }
        for place in places.reversed() {
            if place.part == .row || place.part == .update {
                try finish()
                pieces = [place]
            } else if place.part == .rowPiece {
                pieces.append(place)
            }
        }
        try finish()
    }

    private func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        let found = try result.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        guard found == count else { throw damaged("it ends too early") }
        return result
    }

    func damaged(_ message: String) -> StoreError {
        StoreError(.damaged, path: file.path, "the record of the merge cannot be used: \(message)")
    }
}

extension RecordingReader: LargeValueSource {
    func forEachPiece(of value: LargeValue, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .part(let number) = value.place, values.indices.contains(number) else {
            throw damaged("the bytes of a large value are missing")
        }
        for place in places[values[number]] { try bytes(of: place).withUnsafeBytes(body) }
    }
}

/// Writes the record of a merge, part by part.
final class RecordingWriter {
    private let sink: (UnsafeRawBufferPointer) throws -> Void
    private let atEnd: () throws -> Void
    private var checksum = RecordingFormat.Checksum()
    private var pending: [UInt8] = []

    init(_ sink: @escaping (UnsafeRawBufferPointer) throws -> Void, atEnd: @escaping () throws -> Void) {
        self.sink = sink
        self.atEnd = atEnd
        pending = RecordingFormat.magic
    }

    func write(_ part: RecordingFormat.Part, _ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        repeat {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(RecordingFormat.greatestPart))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            let isLast = rest.isEmpty
            let kind = (part == .row || part == .update) && !isLast ? RecordingFormat.Part.rowPiece : part
            pending.append(kind.rawValue)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: piece.count).littleEndian) { pending += $0 }
            pending += piece
            if pending.count > 65_536 { try flush() }
        } while !rest.isEmpty
    }

    func write(_ part: RecordingFormat.Part, _ value: some Encodable) throws {
        try RecordCoding.encoder().encode(value).withUnsafeBytes { try write(part, $0) }
    }

    /// Writes the checksum and ends the record.
    func finish() throws {
        try flush()
        let sum = checksum.value
        try withUnsafeBytes(of: sum.littleEndian) { try write(.end, $0) }
        try flush()
        try atEnd()
    }

    private func flush() throws {
        try pending.withUnsafeBytes { bytes in
            checksum.add(bytes)
            try sink(bytes)
        }
        pending.removeAll(keepingCapacity: true)
    }
}

/// Passes the recorded changeset to SQLite in pieces.
final class ChangesetInput {
    private let reader: RecordingReader
    private var next = 0
    private var piece: [UInt8] = []
    private var position = 0
    private(set) var error: (any Error)?

    init(_ reader: RecordingReader) { self.reader = reader }

    /// The context pointer for ``callback``; this object must outlive the call.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let callback:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> Int32 = {
            context,
            target,
            count in
            guard let context, let target, let count else { return SQLITE_MISUSE }
            let input = Unmanaged<ChangesetInput>.fromOpaque(context).takeUnretainedValue()
            do {
                let wanted = UnsafeMutableRawBufferPointer(start: target, count: max(0, Int(count.pointee)))
                count.pointee = Int32(clamping: try input.read(into: wanted))
                return SQLITE_OK
            } catch {
                input.error = error
                return SQLITE_IOERR
            }
        }

    /// Returns zero at the end, as SQLite expects.
    private func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
        while position == piece.count {
            guard let index = reader.places[next...].firstIndex(where: { $0.part == .changes }) else { return 0 }
            piece = try reader.bytes(of: reader.places[index])
            position = 0
            next = index + 1
        }
        let count = min(target.count, piece.count - position)
        piece.withUnsafeBytes {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
        }
        position += count
        return count
    }
}
