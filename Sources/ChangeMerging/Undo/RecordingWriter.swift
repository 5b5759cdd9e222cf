import FoundationEssentials

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
