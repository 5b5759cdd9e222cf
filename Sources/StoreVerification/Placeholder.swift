enum PlaceholderStoreVerification {}
