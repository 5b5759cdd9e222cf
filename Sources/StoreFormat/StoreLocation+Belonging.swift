extension StoreLocation {
    /// True for a store's own name, and for the names of its companion files.
    package func belongs(to store: StoreLocation) -> Bool {
        name == store.name || name.hasPrefix(store.name + "-") || name.hasPrefix("." + store.name)
            || name == store.supportFolderName
    }

    /// SQLite's names for the files beside a main file.
    package var sidecarNames: [String] { [writeAheadLogName, sharedMemoryName, journalName] }

    /// The names in the store's folder that its companion files use, so that no other store can have them.
    package var companionNames: [String] {
        let relay = StoreLocation(folder: folder, name: relayName)
        return sidecarNames + [relay.name] + relay.sidecarNames
            + [wakeName, supportFolderName, RecordedContent.receiptName(for: name)]
    }
}
