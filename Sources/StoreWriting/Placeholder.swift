enum PlaceholderStoreWriting {}
