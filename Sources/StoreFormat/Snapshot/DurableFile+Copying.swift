package import SafeFiles

extension DurableFile {
    /// Copies all bytes in chunks.
    package func copyBytes(to output: DurableFile, chunk: Int = 1 << 20) throws {
        var buffer = [UInt8](repeating: 0, count: chunk)
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try read(into: $0, at: offset) }
            guard count > 0 else { return }
            try buffer.withUnsafeBytes { try output.write(UnsafeRawBufferPointer(rebasing: $0[0..<count]), at: offset) }
            offset += Int64(count)
        }
    }
}
