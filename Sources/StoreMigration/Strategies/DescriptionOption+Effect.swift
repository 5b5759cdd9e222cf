import StoreStrategies

extension DescriptionOption {
    /// True for an option without effect here, carried in descriptions for programs on Apple's platforms.
    var isCarriedOnly: Bool { Self.carriedOnly.contains(self) }

    private static let carriedOnly: Set<Self> = [
        .shouldAddStoreAsynchronously, .fileProtection, .isExcludedFromBackup, .notificationNames,
    ]
}
