package import StoreAccess
import StoreFormat

/// `Z_METADATA` has exactly one row, with a UUID and a property list.
struct MetadataRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        let table = "Z_METADATA"
        let rows = try store.count("SELECT count(*) FROM Z_METADATA")
        if rows != 1 {
            findings.report(.metadataRows, .error, "the metadata has \(rows) rows instead of one", table: table)
        }
        guard rows > 0 else { return }
        if store.metadata.uuid.isEmpty {
            findings.report(.metadataIncomplete, .error, "the metadata names no store UUID", table: table)
        }
        if store.metadata.rawPropertyList.isEmpty {
            findings.report(.metadataIncomplete, .error, "the metadata has no property list", table: table)
        } else if store.metadata.values.isEmpty {
            findings.report(
                .metadataIncomplete,
                .error,
                "the property list of the metadata is unreadable",
                table: table
            )
        }
    }
}

extension Finding.Code {
    /// The metadata has no row, or several.
    package static let metadataRows = Self(rawValue: "metadataRows")
    /// The metadata lacks its UUID or a readable property list.
    package static let metadataIncomplete = Self(rawValue: "metadataIncomplete")
}

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

/// Everything that the model describes exists in the tables; the other rules cannot check what is missing.
struct ModelLayoutRule: CoreDataRule {
    func check(_ store: CoreDataStore, _ findings: inout FindingList) throws {
        for unresolved in store.unresolved {
            guard !isTableMissing(unresolved, store) else {
                findings.report(
                    .missingTable,
                    .error,
                    "\(unresolved.reason): fetching objects of the entity fails",
                    entity: unresolved.entity
                )
                continue
            }
            let subject = unresolved.property.map { "property \($0)" } ?? "the entity"
            findings.report(
                .notProved,
                .info,
                "\(subject) was not checked: \(unresolved.reason)",
                entity: unresolved.entity
            )
        }
    }

    /// True for an entity of the store's own model that the store has numbered.
    private func isTableMissing(_ unresolved: StoreLayout.Unresolved, _ store: CoreDataStore) -> Bool {
        unresolved.property == nil && store.model != nil
            && store.entityNumbers.number(of: unresolved.entity) != nil
    }
}

extension Finding.Code {
    /// The store has no table for an entity of its model.
    package static let missingTable = Self(rawValue: "missingTable")
}
