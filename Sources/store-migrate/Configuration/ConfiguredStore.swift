import StoreFormat

/// One of several stores that a configuration lists for one call, with its own values.
struct ConfiguredStore {
    /// The keys that only a listed store has.
    enum Key: String, CaseIterable {
        case from
        case to
        case after
    }

    /// The absolute path of the old store.
    let from: ConfiguredValue
    /// The absolute path of the new store, if it is not in a group.
    let to: ConfiguredValue?
    /// The names of the stores that must be shared first.
    let after: [String]
    /// The values that override those of the whole configuration.
    let values: [ConfigurationKey: [ConfiguredValue]]

    /// The store's name in `after` and in results.
    var name: String { PathArgument(argument: from.text)?.location.name ?? from.text }
}
