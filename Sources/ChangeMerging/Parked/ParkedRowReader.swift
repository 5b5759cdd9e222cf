import FoundationEssentials
package import SafeFiles
import StoreFormat

/// Reads parked rows from a file with one JSON object per line.
package struct ParkedRowReader {
    /// A line is one row with its large values; a longer line was not written here.
    private static let greatestLine = 4 << 30

    private let file: DurableFile

    package init(_ file: DurableFile) { self.file = file }

    /// Calls `body` with each row and its line number.
    ///
    /// Throws, with that number, if a line is not a parked row.
    package func forEachRow(_ body: (ParkedRow, _ line: Int) throws -> Void) throws {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { piece.deallocate() }
        var (offset, line): (Int64, Int) = (0, 1)
        var pending: [UInt8] = []
        func finish() throws {
            defer {
                pending.removeAll(keepingCapacity: true)
                line += 1
            }
            guard !pending.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) else { return }
            let row: ParkedRow
            do {
                row = try RecordCoding.decoder().decode(ParkedRow.self, from: Data(pending))
            } catch {
                throw unfit("line \(line) is no parked row")
            }
            try body(row, line)
        }
        while true {
            let count = try file.read(into: piece, at: offset)
            offset += Int64(count)
            for part in piece[..<count].split(separator: 10, omittingEmptySubsequences: false).enumerated() {
                if part.offset > 0 { try finish() }
                guard pending.count + part.element.count <= Self.greatestLine else {
                    throw unfit("line \(line) is too long for a parked row")
                }
                pending += part.element
            }
            if count < piece.count { break }
        }
        if !pending.isEmpty { try finish() }
    }

    private func unfit(_ message: String) -> StoreError { StoreError(.incompatible, path: file.path, message) }
}
