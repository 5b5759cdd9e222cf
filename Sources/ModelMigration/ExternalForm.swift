import SafeFiles
import StoreFormat

/// Compares a value with the one that a change of external storage makes of it.
///
/// Where files are permitted, a value begins with a byte: 1 before a value in its row, 2 before the name of a file.
struct ExternalForm {
    let external: Directory?
    /// The stores that large values are read from.
    let sources: [any LargeValueSource]

    /// True if `value` became `migrated`; `isExternal` if files are permitted now.
    func isKept(_ value: SQLValue, _ migrated: SQLValue, isExternal: Bool) throws -> Bool {
        if isExternal {
            guard let digest = try digest(of: value, after: [1]) else { return value == migrated }
            return try digest == self.digest(of: migrated)
        }
        if case .blob(let bytes) = value, bytes.count == 38, bytes.first == 2 {
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            // Without the folder the value cannot be read.
            guard let external else { return true }
            return try fileDigest(name, in: external) == digest(of: migrated)
        }
        guard let former = try digest(of: value) else { return value == migrated }
        return try former == digest(of: migrated) || former == digest(of: migrated, after: [1])
    }

    /// The digest of `first` and a text's or blob's bytes; nil for other values.
    private func digest(of value: SQLValue, after first: [UInt8] = []) throws -> [UInt8]? {
        var hash = SHA256()
        hash.update(first)
        switch value {
        case .null, .integer, .real: return nil
        case .text(let text): text.withBytes { bytes, _ in hash.update(bytes) }
        case .blob(let bytes): hash.update(bytes)
        case .large(let large):
            guard !first.isEmpty else { return large.digest }
            try large.forEachPiece(from: sources) { hash.update($0) }
        }
        return hash.digest
    }

    private func fileDigest(_ name: String, in folder: Directory) throws -> [UInt8] {
        let file = try folder.openFile(name, for: .reading)
        defer { try? file.close() }
        var hash = SHA256()
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: LargeValue.greatestWhole, alignment: 16)
        defer { piece.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try file.read(into: piece, at: offset)
            guard count > 0 else { return hash.digest }
            hash.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += Int64(count)
        }
    }
}
