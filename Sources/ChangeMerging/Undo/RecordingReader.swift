import FoundationEssentials
import SafeFiles
import StoreFormat

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
