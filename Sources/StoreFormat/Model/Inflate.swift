internal import CZlib

/// Decompresses raw DEFLATE (RFC 1951), the format of Core Data's model cache.
package enum Inflate {
    /// Returns the decompressed bytes.
    ///
    /// Throws if the input is malformed or truncated, or expands to more than `limit` bytes.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
        guard let count = UInt32(exactly: bytes.count) else {
            throw UndecodableData("the compressed data is too large")
        }
        var stream = z_stream()
        // A negative window size means "without header".
        guard czlib_inflate_init(&stream, -15) == Z_OK else {
            throw UndecodableData("the decompressor cannot be initialized")
        }
        defer { inflateEnd(&stream) }
        var bytes = bytes
        var result: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        try bytes.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = count
            var code = Z_OK
            while code == Z_OK {
                let produced = chunk.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    code = CZlib.inflate(&stream, Z_NO_FLUSH)
                    return output.count - Int(stream.avail_out)
                }
                guard produced <= limit - result.count else {
                    throw UndecodableData("the compressed data expands to more than \(limit) bytes")
                }
                result.append(contentsOf: chunk[..<produced])
            }
            guard code == Z_STREAM_END else { throw UndecodableData("the compressed data is damaged or cut short") }
        }
        return result
    }
}
