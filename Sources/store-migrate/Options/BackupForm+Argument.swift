public import ArgumentParser
public import StoreBackup
public import StoreMigration

extension BackupForm.Format: @retroactive ExpressibleByArgument {}
extension BackupForm.Compression: @retroactive ExpressibleByArgument {}
extension RestoreOptions.OverwritePolicy: @retroactive ExpressibleByArgument {}
