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
