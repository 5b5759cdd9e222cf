extension StoreLocation {
    /// True for a store's own name, and those that it and we give to what lies beside it.
    package func belongs(to store: StoreLocation) -> Bool {
        name == store.name || name.hasPrefix(store.name + "-") || name.hasPrefix("." + store.name)
            || name == store.supportFolderName
    }

    /// The names that SQLite gives to the files beside a main file.
    package var sidecarNames: [String] { [writeAheadLogName, sharedMemoryName, journalName] }

    /// The names in the store's folder that are in use by what goes with the store, so that no store can have them.
    package var companionNames: [String] {
        let relay = StoreLocation(folder: folder, name: relayName)
        return sidecarNames + [relay.name] + relay.sidecarNames
            + [wakeName, supportFolderName, RecordedContent.receiptName(for: name)]
    }
}
