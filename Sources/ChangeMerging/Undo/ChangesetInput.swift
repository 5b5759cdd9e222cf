import CSQLite

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
