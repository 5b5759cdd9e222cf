/// What a strategy sets in a description; a nil member leaves the description's value unchanged.
///
/// As JSON it is an object of the members that are set, under the description's names. An unknown member is a decoding
/// error, so that no setting is silently ignored.
public struct DescriptionChanges: Hashable, Sendable {
    public var configuration: String?
    public var isReadOnly: Bool?
    /// In seconds.
    public var timeout: Double?
    public var shouldAddStoreAsynchronously: Bool?
    public var shouldMigrateStoreAutomatically: Bool?
    public var shouldInferMappingModelAutomatically: Bool?
    /// Pragmas of every connection, by name; other pragmas stay unchanged.
    public var sqlitePragmas: [String: String] = [:]
    public var isHistoryTrackingEnabled: Bool?
    public var postsRemoteChangeNotifications: Bool?
    public var fileProtection: PersistentStoreDescription.FileProtection?
    public var posixMode: UInt32?
    public var posixGroup: String?
    public var usesPersistentWriteAheadLog: Bool?
    public var isExcludedFromBackup: Bool?

    /// Creates empty changes.
    public init() {}

    /// Returns `description` with these changes.
    public func applied(to description: PersistentStoreDescription) -> PersistentStoreDescription {
        var result = description
        if let configuration { result.configuration = configuration }
        if let isReadOnly { result.isReadOnly = isReadOnly }
        if let timeout { result.timeout = timeout }
        if let shouldAddStoreAsynchronously { result.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously }
        if let shouldMigrateStoreAutomatically {
            result.shouldMigrateStoreAutomatically = shouldMigrateStoreAutomatically
        }
        if let shouldInferMappingModelAutomatically {
            result.shouldInferMappingModelAutomatically = shouldInferMappingModelAutomatically
        }
        for (name, value) in sqlitePragmas {
            let old = result.sqlitePragmas.keys.filter { $0.lowercased() == name.lowercased() }
            for key in old { result.sqlitePragmas[key] = nil }
            result.sqlitePragmas[name.lowercased()] = value
        }
        if let isHistoryTrackingEnabled { result.isHistoryTrackingEnabled = isHistoryTrackingEnabled }
        if let postsRemoteChangeNotifications {
            result.postsRemoteChangeNotifications = postsRemoteChangeNotifications
        }
        if let fileProtection { result.fileProtection = fileProtection }
        if let posixMode { result.posixMode = posixMode }
        if let posixGroup { result.posixGroup = posixGroup }
        if let usesPersistentWriteAheadLog { result.usesPersistentWriteAheadLog = usesPersistentWriteAheadLog }
        if let isExcludedFromBackup { result.isExcludedFromBackup = isExcludedFromBackup }
        return result
    }

    /// The options that are set, each with its value as canonical text.
    public var values: [DescriptionOption: String] {
        var result: [DescriptionOption: String] = [:]
        result[.configuration] = configuration
        result[.isReadOnly] = isReadOnly.map(String.init)
        result[.timeout] = timeout.map { "\($0)" }
        result[.shouldAddStoreAsynchronously] = shouldAddStoreAsynchronously.map(String.init)
        result[.shouldMigrateStoreAutomatically] = shouldMigrateStoreAutomatically.map(String.init)
        result[.shouldInferMappingModelAutomatically] = shouldInferMappingModelAutomatically.map(String.init)
        for (name, value) in sqlitePragmas { result[.sqlitePragma(name)] = value.uppercased() }
        result[.isHistoryTrackingEnabled] = isHistoryTrackingEnabled.map(String.init)
        result[.postsRemoteChangeNotifications] = postsRemoteChangeNotifications.map(String.init)
        result[.fileProtection] = fileProtection?.rawValue
        result[.posixMode] = posixMode.map { PosixMode.text($0) }
        result[.posixGroup] = posixGroup
        result[.usesPersistentWriteAheadLog] = usesPersistentWriteAheadLog.map(String.init)
        result[.isExcludedFromBackup] = isExcludedFromBackup.map(String.init)
        return result
    }

    public var isEmpty: Bool { self == Self() }
}
