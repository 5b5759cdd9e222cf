internal import FoundationEssentials

extension StoreMetadata {
    /// The digest that the store records for its model (`NSStoreModelVersionHashesDigest`); older frameworks record none.
    package var recordedModelDigest: String? { string("NSStoreModelVersionHashesDigest") }

    /// The checksum that the store records for its model (`NSStoreModelVersionChecksumKey`); only new frameworks do.
    package var recordedModelChecksum: String? { string("NSStoreModelVersionChecksumKey") }

    /// The expected `NSStoreModelVersionHashesDigest`: the SHA-512 of each entity's name and hash, in byte order of
    /// names.
    package var modelDigest: String {
        var hash = SHA512()
        for (name, bytes) in sortedHashes {
            hash.update(Array(name.utf8))
            hash.update(bytes)
        }
        return Data(hash.digest).base64EncodedString()
    }

    /// The expected `NSStoreModelVersionChecksumKey`: the SHA-256 of the entities' hashes, in byte order of names.
    package var modelChecksum: String {
        var hash = SHA256()
        for (_, bytes) in sortedHashes { hash.update(bytes) }
        return Data(hash.digest).base64EncodedString()
    }

    private var sortedHashes: [(key: String, value: [UInt8])] {
        entityVersionHashes.sorted { ManagedObjectModel.inByteOrder($0.key, $1.key) }
    }

    private func string(_ key: String) -> String? {
        if case .string(let text) = values[key] { text } else { nil }
    }
}
