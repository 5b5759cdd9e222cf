import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreAccess
import StoreFormat

/// Reads, line by line, the objects whose address a merge changed.
enum RekeyedLines {
    private static let chunk = 1 << 16

    /// The digest that is recorded when no object has another address, and so no file exists.
    static let noFile = ""

    /// The digest of the file for the journal.
    static func digest(in folder: Directory, named name: String) throws -> String {
        try StoreDigest.digest(ofFilesIn: folder, named: { $0 == name }) ?? noFile
    }

    /// All objects of the file with this digest; a lost or changed file is an error.
    ///
    /// Without a digest, which earlier versions did not record, a missing file has no objects.
    static func all(in folder: Directory, named name: String, digest: String?) throws -> [RekeyedObject] {
        if let digest, try self.digest(in: folder, named: name) != digest {
            throw damaged(in: folder, named: name, isMissing: try folder.status(of: name) == nil)
        }
        var objects: [RekeyedObject] = []
        try forEach(in: folder, named: name) { object in
            objects.append(object)
            return true
        }
        return objects
    }

    private static func damaged(in folder: Directory, named name: String, isMissing: Bool) -> MigrationError {
        MigrationError(
            .verificationFailed,
            "the list of objects with another address in the merged store \(isMissing ? "is missing" : "was changed")",
            path: folder.path + "/" + name,
            advice:
                "Nothing was merged. Restore the file from a backup, merge with another base, or share again"
                + " and keep the new store, which leaves late writes in the old store."
        )
    }

    /// Calls `body` with each object until it returns false; a missing file has none, and a file that does not consist
    /// of complete lines is an error.
    static func forEach(in folder: Directory, named name: String, _ body: (RekeyedObject) throws -> Bool) throws {
        guard try folder.status(of: name) != nil else { return }
        let file = try folder.openFile(name, for: .reading)
        let decoder = JSONDecoder()
        var buffer = [UInt8](repeating: 0, count: chunk)
        var rest: [UInt8] = []
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
            guard count > 0 else {
                // A merge writes only whole lines, and creates the file with the first of them.
                guard rest.isEmpty, offset > 0 else { throw damaged(in: folder, named: name, isMissing: false) }
                return
            }
            offset += Int64(count)
            rest += buffer[..<count]
            var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
            rest = lines.popLast().map(Array.init) ?? []
            for line in lines where !line.isEmpty {
                guard let object = try? decoder.decode(RekeyedObject.self, from: Data(line)) else {
                    throw damaged(in: folder, named: name, isMissing: false)
                }
                guard try body(object) else { return }
            }
        }
    }
}

/// Maps addresses of an old store's objects to the merged store, from a merge's records.
struct RekeyedAddresses {
    /// The maximum number in memory; beyond it, consumers must refresh everything.
    private static let most = 100_000

    private var addresses: [ObjectURI: ObjectURI] = [:]
    private let stores: (old: String?, new: String?)
    /// False when there are more addresses than the maximum.
    private(set) var isComplete = true

    /// `stores` are the UUIDs of the old store and of the one it was merged into.
    ///
    /// A damaged list is incomplete here, because the merge is committed; the next merge reports the damage.
    init(of merging: JournalRecord.Merging, in folder: Directory, stores: (old: String?, new: String?)) throws {
        self.stores = stores
        do {
            try RekeyedLines.forEach(in: folder, named: MergeRecords.name(of: .rekeyed, merging.epoch)) { object in
                addresses[object.old] = object.new
                isComplete = addresses.count <= Self.most
                return isComplete
            }
            if let digest = merging.addresses, isComplete {
                isComplete = addresses.isEmpty == (digest == RekeyedLines.noFile)
            }
        } catch let error as MigrationError where error.outcome == .verificationFailed {
            isComplete = false
        }
    }

    /// The current address of an object of the old store.
    subscript(_ address: ObjectURI) -> ObjectURI {
        if let found = addresses[address] { return found }
        guard let new = stores.new, address.storeUUID == stores.old, stores.old != new else { return address }
        return ObjectURI(storeUUID: new, entity: address.entity, primaryKey: address.primaryKey)
    }
}
