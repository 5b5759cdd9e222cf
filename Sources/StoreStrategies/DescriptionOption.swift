/// One option of a description, by the name of its member; pragmas as `sqlitePragmas.<name>`.
public struct DescriptionOption: RawRepresentable, Hashable, Sendable {
    private static let pragmaPrefix = "sqlitePragmas."

    public let rawValue: String

    /// Accepts any name, so that a name from a newer version can be decoded.
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let configuration = Self(rawValue: "configuration")
    public static let isReadOnly = Self(rawValue: "isReadOnly")
    public static let timeout = Self(rawValue: "timeout")
    public static let shouldAddStoreAsynchronously = Self(rawValue: "shouldAddStoreAsynchronously")
    public static let shouldMigrateStoreAutomatically = Self(rawValue: "shouldMigrateStoreAutomatically")
    public static let shouldInferMappingModelAutomatically = Self(rawValue: "shouldInferMappingModelAutomatically")
    public static let isHistoryTrackingEnabled = Self(rawValue: "isHistoryTrackingEnabled")
    public static let postsRemoteChangeNotifications = Self(rawValue: "postsRemoteChangeNotifications")
    public static let fileProtection = Self(rawValue: "fileProtection")
    public static let posixMode = Self(rawValue: "posixMode")
    public static let posixGroup = Self(rawValue: "posixGroup")
    public static let usesPersistentWriteAheadLog = Self(rawValue: "usesPersistentWriteAheadLog")
    public static let isExcludedFromBackup = Self(rawValue: "isExcludedFromBackup")
    public static let notificationNames = Self(rawValue: "notificationNames")
    public static let journalMode = sqlitePragma("journal_mode")

    /// The member with all pragmas, which is not an option: each pragma is one.
    static let allPragmas = Self(rawValue: "sqlitePragmas")

    /// The pragmas a strategy may set: they configure a connection, and none changes a store's content.
    public static let settablePragmas: Set<String> = [
        "journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync", "cache_size", "temp_store",
        "wal_autocheckpoint", "journal_size_limit", "secure_delete",
    ]

    /// A pragma of every connection; names of pragmas have no case.
    public static func sqlitePragma(_ name: String) -> Self { Self(rawValue: pragmaPrefix + name.lowercased()) }

    /// The name of the pragma; nil for every other option.
    public var pragmaName: String? {
        rawValue.hasPrefix(Self.pragmaPrefix) ? String(rawValue.dropFirst(Self.pragmaPrefix.count)) : nil
    }

    /// True for what a strategy may set; the URL, the type and the model are the caller's, and names of notifications follow
    /// from the roles.
    public var isSettable: Bool {
        if let pragmaName { return Self.settablePragmas.contains(pragmaName) }
        return Self.settable.contains(self)
    }

    private static let settable: Set<Self> = [
        configuration, isReadOnly, timeout, shouldAddStoreAsynchronously, shouldMigrateStoreAutomatically,
        shouldInferMappingModelAutomatically, isHistoryTrackingEnabled, postsRemoteChangeNotifications, fileProtection,
        posixMode, posixGroup, usesPersistentWriteAheadLog, isExcludedFromBackup,
    ]
}

extension DescriptionOption: CustomStringConvertible, Comparable {
    public var description: String { rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension DescriptionOption: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
