internal import SafeFiles
internal import StoreFormat

/// Buffers texts in memory, and beyond a limit in a temporary file.
final class FetchSpool {
    private static let limit = 1 << 20
    private static let prefixLength = 4

    private var buffer: [UInt8] = []
    private var folder: TemporaryDirectory?
    private var file: DurableFile?
    private var size: Int64 = 0

    func append(_ text: String) throws {
        withUnsafeBytes(of: UInt32(clamping: text.utf8.count).littleEndian) { buffer.append(contentsOf: $0) }
        buffer += text.utf8
        if buffer.count >= Self.limit { try flush() }
    }

    /// Calls `body` with each text in order.
    func forEachText(_ body: (String) throws -> Void) throws {
        var pending: [UInt8] = []
        var offset: Int64 = 0
        var block = [UInt8](repeating: 0, count: file == nil ? 0 : Self.limit)
        while let file, offset < size {
            let count = try block.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
            guard count > 0 else { throw StoreError(.inputOutput, path: "", "the temporary file is truncated") }
            offset += Int64(count)
            pending += block[..<count]
            try take(from: &pending, body)
        }
        pending += buffer
        try take(from: &pending, body)
    }

    /// Consumes the complete texts at the start of `bytes`.
    private func take(from bytes: inout [UInt8], _ body: (String) throws -> Void) throws {
        var position = 0
        while bytes.count - position >= Self.prefixLength {
            let length = bytes[position..<position + Self.prefixLength].reversed().reduce(0) { $0 << 8 | Int($1) }
            let start = position + Self.prefixLength
            guard bytes.count - start >= length else { break }
            try body(String(decoding: bytes[start..<start + length], as: UTF8.self))
            position = start + length
        }
        bytes.removeFirst(position)
    }

    private func flush() throws {
        if file == nil {
            let folder = try TemporaryDirectory(prefix: "store-migrate-fetch")
            self.folder = folder
            file = try folder.directory.createFile("objects", mode: 0o600)
        }
        try buffer.withUnsafeBytes { try file?.write($0, at: size) }
        size += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}
