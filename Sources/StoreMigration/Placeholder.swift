enum PlaceholderStoreMigration {}
