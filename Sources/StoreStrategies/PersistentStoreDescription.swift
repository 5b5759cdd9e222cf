#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How one program opens one persistent store, with the names of Core Data's `NSPersistentStoreDescription`.
///
/// A value: it opens nothing. Durations are in seconds. As JSON, members that are absent have their defaults.
public struct PersistentStoreDescription: Hashable, Sendable, Codable {
    /// The type of a store, always SQLite here.
    public enum StoreType: String, Sendable, Codable {
        case sqlite = "SQLite"
    }

    /// The classes of file protection on Apple's platforms.
    public enum FileProtection: String, Sendable, Codable, CaseIterable {
        case complete = "NSFileProtectionComplete"
        case completeUnlessOpen = "NSFileProtectionCompleteUnlessOpen"
        case completeUntilFirstUserAuthentication = "NSFileProtectionCompleteUntilFirstUserAuthentication"
        case none = "NSFileProtectionNone"
    }

    /// The main file.
    public var url: URL
    public var type: StoreType = .sqlite
    /// The configuration of the model whose entities this store holds; nil is the default one.
    public var configuration: String?
    public var isReadOnly = false
    /// How long to wait for a connection.
    public var timeout: Double = 240
    public var shouldAddStoreAsynchronously = false
    public var shouldMigrateStoreAutomatically = true
    public var shouldInferMappingModelAutomatically = true
    /// Pragmas applied to every connection, by name.
    public var sqlitePragmas: [String: String] = [:]
    public var isHistoryTrackingEnabled = false
    public var postsRemoteChangeNotifications = false
    public var fileProtection: FileProtection?
    /// The permission bits of the store's files.
    public var posixMode: UInt32?
    /// The name or number of the group that the store's files belong to.
    public var posixGroup: String?
    /// True when the log stays on disk after the last connection closed, so that readers who may not create it can open.
    public var usesPersistentWriteAheadLog = false
    public var isExcludedFromBackup = false
    /// The path of the model that the program carries.
    public var modelFile: String?
    /// The notifications that the program posts and observes on Apple's platforms; nil if no other role opens the store.
    public var notificationNames: NotificationNames?

    /// Creates a description of the SQLite store at `url` with Core Data's own defaults.
    public init(url: URL) {
        self.url = url
    }

    private enum CodingKeys: String, CodingKey {
        case url, type, configuration, isReadOnly, timeout, shouldAddStoreAsynchronously
        case shouldMigrateStoreAutomatically, shouldInferMappingModelAutomatically, sqlitePragmas
        case isHistoryTrackingEnabled, postsRemoteChangeNotifications, fileProtection, posixMode, posixGroup
        case usesPersistentWriteAheadLog, isExcludedFromBackup, modelFile, notificationNames
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(url: try container.decode(URL.self, forKey: .url))
        func read<Value: Decodable>(_ key: CodingKeys, into value: inout Value) throws {
            if let found = try container.decodeIfPresent(Value.self, forKey: key) { value = found }
        }
        try read(.type, into: &type)
        configuration = try container.decodeIfPresent(String.self, forKey: .configuration)
        try read(.isReadOnly, into: &isReadOnly)
        try read(.timeout, into: &timeout)
        try read(.shouldAddStoreAsynchronously, into: &shouldAddStoreAsynchronously)
        try read(.shouldMigrateStoreAutomatically, into: &shouldMigrateStoreAutomatically)
        try read(.shouldInferMappingModelAutomatically, into: &shouldInferMappingModelAutomatically)
        try read(.sqlitePragmas, into: &sqlitePragmas)
        try read(.isHistoryTrackingEnabled, into: &isHistoryTrackingEnabled)
        try read(.postsRemoteChangeNotifications, into: &postsRemoteChangeNotifications)
        fileProtection = try container.decodeIfPresent(FileProtection.self, forKey: .fileProtection)
        posixMode = try container.decodeIfPresent(UInt32.self, forKey: .posixMode)
        posixGroup = try container.decodeIfPresent(String.self, forKey: .posixGroup)
        try read(.usesPersistentWriteAheadLog, into: &usesPersistentWriteAheadLog)
        try read(.isExcludedFromBackup, into: &isExcludedFromBackup)
        modelFile = try container.decodeIfPresent(String.self, forKey: .modelFile)
        notificationNames = try container.decodeIfPresent(NotificationNames.self, forKey: .notificationNames)
    }
}

/// Permission bits as people write them.
public enum PosixMode {
    /// Returns the octal digits with a leading zero, as `0660`.
    public static func text(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(1, 4 - digits.count)) + digits
    }

    /// Reads octal digits; nil for anything else.
    public static func bits(_ text: String) -> UInt32? {
        guard !text.isEmpty, text.count <= 6, text.utf8.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        return UInt32(text, radix: 8)
    }
}
