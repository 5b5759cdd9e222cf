package import StoreFormat

/// The metadata's version hashes name exactly the entities of `Z_PRIMARYKEY`, and their digests are right.
struct ModelHashesRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let metadata = store.metadata
        guard !metadata.values.isEmpty else { return }
        var unnumbered = Set(metadata.entityVersionHashes.keys)
        let unhashed = store.entityNumbers.modelEntries.filter { unnumbered.remove($0.name) == nil }
        for (name, former) in store.formerNames.sorted(by: { $0.key < $1.key }) {
            findings.report(
                .entityRenamed,
                .warning,
                "entity \(name) is numbered as \(former), a former name",
                entity: name
            )
        }
        for name in unnumbered.sorted() {
            findings.report(.modelHashes, .error, "entity \(name) has a version hash and no number", entity: name)
        }
        for entry in unhashed {
            findings.report(
                .modelHashes,
                .error,
                "entity \(entry.name) has a number and no version hash",
                entity: entry.name
            )
        }
        if let digest = metadata.recordedModelDigest, digest != metadata.modelDigest {
            findings.report(.modelDigest, .error, "the digest of the model's version hashes does not match them")
        }
        if let checksum = metadata.recordedModelChecksum, checksum != metadata.modelChecksum {
            findings.report(.modelDigest, .error, "the checksum of the model's version hashes does not match them")
        }
    }
}

extension Finding.Code {
    /// An entity was renamed, and the table of entity numbers did not follow.
    package static let entityRenamed = Self(rawValue: "entityRenamed")
    /// The entities with a version hash are not the entities with a number.
    package static let modelHashes = Self(rawValue: "modelHashes")
    /// A digest in the metadata does not match the version hashes.
    package static let modelDigest = Self(rawValue: "modelDigest")
}
