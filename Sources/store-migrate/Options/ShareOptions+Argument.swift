public import ArgumentParser
public import StoreFormat
public import StoreMigration

extension ShareOptions.OldStorePolicy: ExpressibleByArgument {}
extension ShareOptions.BothPlacesPolicy: ExpressibleByArgument {}
extension ShareOptions.BusyPolicy: ExpressibleByArgument {}
extension VerificationLevel: ExpressibleByArgument {}
