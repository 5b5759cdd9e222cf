enum PlaceholderStoreFixtures {}
