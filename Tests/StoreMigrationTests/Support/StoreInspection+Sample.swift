import SafeFiles
import StoreAccess
import StoreFormat

extension StoreInspection {
    /// An inspection for the planner; nil objects make a database without tables, a nil hash one without version hashes.
    static func sample(
        objects: Int64?,
        kind: Kind = .sqlite,
        modelHash: UInt8? = 1,
        isFenced: Bool = false
    ) -> StoreInspection {
        let isCoreData = kind == .coreData
        return StoreInspection(
            location: .oldSample,
            kind: kind,
            header: StoreHeader(
                pageSize: 4096,
                journalMode: .wal,
                pageCount: 1,
                changeCounter: 1,
                schemaCookie: 1,
                userVersion: 0,
                applicationID: 0
            ),
            identity: FileIdentity(device: 1, inode: 2),
            token: FileToken(main: nil, writeAheadLog: nil, journal: nil),
            mode: 0o644,
            owner: 0,
            group: 0,
            files: [],
            metadata: isCoreData ? .sample(modelHash: modelHash) : nil,
            model: nil,
            modelSource: nil,
            entities: isCoreData
                ? [EntityCount(name: "Habit", id: 1, parent: nil, objects: objects ?? 0)] : [],
            joinTables: [],
            tables: isCoreData ? [] : objects.map { [TableCount(name: "t", rows: $0)] } ?? [],
            history: nil,
            fence: isFenced ? StoreFence(transaction: "t", newPath: "/new", triggerCount: 3) : nil,
            digest: nil,
            findings: []
        )
    }
}

extension StoreMetadata {
    fileprivate static func sample(modelHash: UInt8?) -> StoreMetadata {
        StoreMetadata(
            uuid: "00000000-0000-4000-8000-000000000000",
            values: [
                "NSStoreModelVersionHashes": .dictionary(
                    modelHash.map { ["Habit": .data([UInt8](repeating: $0, count: 32))] } ?? [:]
                )
            ]
        )
    }
}

extension UnreadableStore {
    static func sample(_ reason: Reason) -> UnreadableStore {
        UnreadableStore(reason, path: "/old/store", detail: "it cannot be used")
    }
}

extension StoreLocation {
    static let oldSample = StoreLocation(folder: "/old", name: "store")
    static let newSample = StoreLocation(folder: "/new", name: "store")
}
