extension StoreLocation {
    /// True for a store's own name, and those that it and we give to what lies beside it.
    package func belongs(to store: StoreLocation) -> Bool {
        name == store.name || name.hasPrefix(store.name + "-") || name.hasPrefix("." + store.name)
            || name == store.supportFolderName
    }
}
