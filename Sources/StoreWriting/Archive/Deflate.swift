import CZlib
package import StoreFormat

/// Compresses as raw DEFLATE (RFC 1951), the format of Core Data's model cache.
package enum Deflate {
    package static func deflate(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
        var stream = z_stream()
        // Negative window bits: no zlib header and no checksum.
        guard czlib_deflate_init(&stream, 9, -15) == Z_OK else {
            throw StoreError(.failed, path: "", "zlib cannot start compressing")
        }
        defer { deflateEnd(&stream) }
        guard let inputCount = uInt(exactly: bytes.count) else {
            throw StoreError(.incompatible, path: "", "more than 4 GB cannot be compressed at once")
        }
        // `deflateBound` is an upper limit of the output, so one call finishes.
        let bound = deflateBound(&stream, uLong(inputCount))
        guard let outputCount = uInt(exactly: bound) else {
            throw StoreError(.incompatible, path: "", "more than 4 GB cannot be compressed at once")
        }
        var input = bytes
        var status = Z_OK
        let output = [UInt8](unsafeUninitializedCapacity: Int(outputCount)) { buffer, count in
            input.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = inputCount
                stream.next_out = buffer.baseAddress
                stream.avail_out = outputCount
                status = CZlib.deflate(&stream, Z_FINISH)
            }
            count = Int(outputCount - stream.avail_out)
        }
        guard status == Z_STREAM_END else {
            throw StoreError(.failed, path: "", "zlib could not compress the model")
        }
        return output
    }
}
