import StoreStrategies

extension DescriptionOption {
    /// True for what has no effect here: it is carried in descriptions for programs on Apple's platforms.
    var isCarriedOnly: Bool { Self.carriedOnly.contains(self) }

    private static let carriedOnly: Set<Self> = [
        .shouldAddStoreAsynchronously, .shouldMigrateStoreAutomatically, .shouldInferMappingModelAutomatically,
        .fileProtection, .isExcludedFromBackup,
    ]
}
