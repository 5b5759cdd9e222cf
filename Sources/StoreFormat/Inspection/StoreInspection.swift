public import SafeFiles
public import StoreAccess

/// The result of inspecting a store, which changes no byte of the store.
public struct StoreInspection: Sendable {
    /// The kind of program that wrote the store.
    public enum Kind: String, Sendable, Codable {
        case coreData
        case sqlite
    }

    /// The source of the managed object model.
    public enum ModelSource: String, Sendable, Codable {
        /// Decoded from the model that Core Data keeps in the store.
        case modelCache
        /// Inferred from the tables: types are right, relationships partly known.
        case inferred
    }

    /// One entity and the number of rows whose concrete entity it is.
    public struct EntityCount: Hashable, Sendable, Codable {
        public let name: String
        /// The entity's number (`Z_ENT`).
        public let id: Int64
        /// The name of the parent entity, if it has one.
        public let parent: String?
        public let objects: Int64

        public init(name: String, id: Int64, parent: String?, objects: Int64) {
            self.name = name
            self.id = id
            self.parent = parent
            self.objects = objects
        }
    }

    /// One table and its number of rows.
    public struct TableCount: Hashable, Sendable, Codable {
        public let name: String
        public let rows: Int64

        public init(name: String, rows: Int64) {
            self.name = name
            self.rows = rows
        }
    }

    public let location: StoreLocation
    public let kind: Kind
    public let header: StoreHeader
    public let identity: FileIdentity
    /// The state of main file, log and journal that this inspection describes.
    package let token: FileToken
    /// The permission bits of the main file.
    public let mode: UInt32
    public let owner: UInt32
    public let group: UInt32
    public let files: [StoreFile]
    /// The metadata of a Core Data store.
    public let metadata: StoreMetadata?
    /// The model of a Core Data store.
    public let model: ManagedObjectModel?
    public let modelSource: ModelSource?
    /// What the model says about its elements without an effect on a store.
    public let annotations: ModelAnnotations
    /// The entities of the model in the order of their numbers; empty in plain SQLite.
    public let entities: [EntityCount]
    public let joinTables: [TableCount]
    /// Every table that no model describes; the count of a virtual table is that of the matching shadow table.
    public let tables: [TableCount]
    /// The persistent history, if tracking is or was enabled.
    public let history: HistorySummary?
    /// The store's fence, if there is one.
    public let fence: StoreFence?
    /// Set if the inspection computed it.
    public let digest: StoreDigest?
    public let findings: [Finding]
    /// The store's history tables, whether tracking is enabled or not.
    package let historyTables: HistoryTables
    /// The files in the folder of external binary data, listed or not.
    package let externalFiles: StoreFile.Total

    package init(
        location: StoreLocation,
        kind: Kind,
        header: StoreHeader,
        identity: FileIdentity,
        token: FileToken,
        mode: UInt32,
        owner: UInt32,
        group: UInt32,
        files: [StoreFile],
        metadata: StoreMetadata?,
        model: ManagedObjectModel?,
        modelSource: ModelSource?,
        entities: [EntityCount],
        joinTables: [TableCount],
        tables: [TableCount],
        history: HistorySummary?,
        fence: StoreFence?,
        digest: StoreDigest?,
        findings: [Finding],
        historyTables: HistoryTables = HistoryTables(),
        externalFiles: StoreFile.Total = StoreFile.Total(),
        annotations: ModelAnnotations = ModelAnnotations()
    ) {
        self.location = location
        self.kind = kind
        self.header = header
        self.identity = identity
        self.token = token
        self.mode = mode
        self.owner = owner
        self.group = group
        self.files = files
        self.metadata = metadata
        self.model = model
        self.modelSource = modelSource
        self.entities = entities
        self.joinTables = joinTables
        self.tables = tables
        self.history = history
        self.fence = fence
        self.digest = digest
        self.findings = findings
        self.historyTables = historyTables
        self.externalFiles = externalFiles
        self.annotations = annotations
    }

    /// The store's UUID, in a Core Data store.
    public var uuid: String? { metadata?.uuid }

    /// Objects in a Core Data store; rows of user tables in plain SQLite.
    public var objectCount: Int64 {
        kind == .coreData ? entities.reduce(0) { $0 + $1.objects } : tables.reduce(0) { $0 + $1.rows }
    }

    /// True for a store without objects and other rows, so that deleting it loses no data.
    package var isEmpty: Bool { objectCount == 0 && tables.allSatisfy { $0.rows == 0 } }

    /// True for a database without any table, which is compatible with every kind and model.
    public var isBlank: Bool { kind == .sqlite && tables.isEmpty }

    /// The total size of all files that are carried.
    public var byteCount: Int64 {
        files.filter { $0.role == .main || $0.role == .writeAheadLog }.reduce(externalFiles.bytes) { $0 + $1.bytes }
    }
}

/// The result of an inspection of one path.
///
/// An unreadable store or an orphaned sidecar never counts as absent.
public enum StoreCondition: Sendable {
    /// Neither a file with the store's name nor a sidecar.
    case absent
    /// A main file of zero bytes without a non-empty sidecar.
    case emptyFile
    /// Non-empty sidecars, and a main file that is missing or empty.
    case orphanSidecar(names: [String])
    /// A file exists and cannot be used.
    case unreadable(UnreadableStore)
    case store(StoreInspection)

    /// The inspection, if there is a store.
    public var inspection: StoreInspection? {
        if case .store(let inspection) = self { inspection } else { nil }
    }
}

extension StoreInspection {
    /// The same inspection for a store in an archive, under the path `location`.
    ///
    /// Files that an archive does not need are omitted: a complete copy has no log.
    package func archived(at location: StoreLocation) -> StoreInspection {
        StoreInspection(
            location: location,
            kind: kind,
            header: header,
            identity: identity,
            token: token,
            mode: mode,
            owner: owner,
            group: group,
            files: files,
            metadata: metadata,
            model: model,
            modelSource: modelSource,
            entities: entities,
            joinTables: joinTables,
            tables: tables,
            history: history,
            fence: fence,
            digest: digest,
            findings: findings.filter { $0.code != .walHeaderWithoutLog }
                .map { finding in
                    var finding = finding
                    let folder = self.location.folder + "/"
                    if let path = finding.path, path.hasPrefix(folder) {
                        finding.path = location.folder + "/" + path.dropFirst(folder.count)
                    }
                    return finding
                },
            historyTables: historyTables,
            externalFiles: externalFiles,
            annotations: annotations
        )
    }
}
