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

extension DescriptionChanges: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case configuration, isReadOnly, timeout, shouldAddStoreAsynchronously, shouldMigrateStoreAutomatically
        case shouldInferMappingModelAutomatically, sqlitePragmas, isHistoryTrackingEnabled
        case postsRemoteChangeNotifications, fileProtection, posixMode, posixGroup, usesPersistentWriteAheadLog
        case isExcludedFromBackup
    }

    /// A key of any name, to find unknown ones.
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        let given = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        if let strange = given.filter({ !known.contains($0) }).sorted().first {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "'\(strange)' is nothing that a strategy may set"
                )
            )
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try container.decodeIfPresent(Value.self, forKey: key)
        }
        self.init()
        configuration = try read(.configuration)
        isReadOnly = try read(.isReadOnly)
        timeout = try read(.timeout)
        shouldAddStoreAsynchronously = try read(.shouldAddStoreAsynchronously)
        shouldMigrateStoreAutomatically = try read(.shouldMigrateStoreAutomatically)
        shouldInferMappingModelAutomatically = try read(.shouldInferMappingModelAutomatically)
        sqlitePragmas = try read(.sqlitePragmas) ?? [:]
        isHistoryTrackingEnabled = try read(.isHistoryTrackingEnabled)
        postsRemoteChangeNotifications = try read(.postsRemoteChangeNotifications)
        fileProtection = try read(.fileProtection)
        posixMode = try read(.posixMode)
        posixGroup = try read(.posixGroup)
        usesPersistentWriteAheadLog = try read(.usesPersistentWriteAheadLog)
        isExcludedFromBackup = try read(.isExcludedFromBackup)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(configuration, forKey: .configuration)
        try container.encodeIfPresent(isReadOnly, forKey: .isReadOnly)
        try container.encodeIfPresent(timeout, forKey: .timeout)
        try container.encodeIfPresent(shouldAddStoreAsynchronously, forKey: .shouldAddStoreAsynchronously)
        try container.encodeIfPresent(shouldMigrateStoreAutomatically, forKey: .shouldMigrateStoreAutomatically)
        try container.encodeIfPresent(
            shouldInferMappingModelAutomatically,
            forKey: .shouldInferMappingModelAutomatically
        )
        if !sqlitePragmas.isEmpty { try container.encode(sqlitePragmas, forKey: .sqlitePragmas) }
        try container.encodeIfPresent(isHistoryTrackingEnabled, forKey: .isHistoryTrackingEnabled)
        try container.encodeIfPresent(postsRemoteChangeNotifications, forKey: .postsRemoteChangeNotifications)
        try container.encodeIfPresent(fileProtection, forKey: .fileProtection)
        try container.encodeIfPresent(posixMode, forKey: .posixMode)
        try container.encodeIfPresent(posixGroup, forKey: .posixGroup)
        try container.encodeIfPresent(usesPersistentWriteAheadLog, forKey: .usesPersistentWriteAheadLog)
        try container.encodeIfPresent(isExcludedFromBackup, forKey: .isExcludedFromBackup)
    }
}

extension DescriptionChanges {
    private static let longestTimeout = 86_400.0
    private static let longestText = 64

    /// The first option with a value that no store should be opened with, and why; nil when all values are sound.
    ///
    /// The value is cut and quoted, since it may come from an untrusted plugin.
    public var objection: (option: DescriptionOption, value: String, reason: String)? {
        if let mode = posixMode, mode & ~0o777 != 0 || mode & 0o600 != 0o600 || mode & 0o002 != 0 {
            return (.posixMode, PosixMode.text(mode), "its owner could not use the store, or everybody could change it")
        }
        if let timeout, !(0...Self.longestTimeout).contains(timeout) {
            return (.timeout, "\(timeout)", "that is no time to wait, in seconds up to a day")
        }
        if Set(sqlitePragmas.keys.map { $0.lowercased() }).count != sqlitePragmas.count,
            let name = sqlitePragmas.keys.min()
        {
            return (.sqlitePragma(name), "two values", "one of them would be left to chance")
        }
        for (name, value) in sqlitePragmas.sorted(by: { $0.key < $1.key }) {
            guard Self.isWord(name) else {
                return (.sqlitePragma(Self.quoted(name)), Self.quoted(value), "that is no name of a pragma")
            }
            let option = DescriptionOption.sqlitePragma(name)
            guard Self.isWord(value) else { return (option, Self.quoted(value), "that is no value of a pragma") }
            if option == .journalMode, !["WAL", "DELETE", "TRUNCATE", "PERSIST"].contains(value.uppercased()) {
                return (option, value.uppercased(), "a crash loses the store with it")
            }
            if option == .sqlitePragma("synchronous"), ["OFF", "0"].contains(value.uppercased()) {
                return (option, value.uppercased(), "a crash loses the store with it")
            }
        }
        for (option, text) in [(DescriptionOption.configuration, configuration), (.posixGroup, posixGroup)] {
            if let text, !Self.isPlain(text) { return (option, Self.quoted(text), "that is no name") }
        }
        return nil
    }

    /// True for the words and numbers that pragmas take.
    private static func isWord(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0 == 0x2D || $0 == 0x5F || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
    }

    private static func isPlain(_ text: String) -> Bool {
        (1...longestText).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy(PlainText.isPlain)
    }

    private static func quoted(_ text: String) -> String {
        "'"
            + text.unicodeScalars.prefix(longestText)
            .map { $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F ? String($0) : "?" }
            .joined() + "'"
    }
}
