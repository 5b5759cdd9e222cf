public import ArgumentParser
public import StoreFormat
public import StoreMigration

extension ShareOptions.OldStorePolicy: @retroactive ExpressibleByArgument {}
extension ShareOptions.BothPlacesPolicy: @retroactive ExpressibleByArgument {}
extension ShareOptions.MissingPolicy: @retroactive ExpressibleByArgument {}
extension ShareOptions.BusyPolicy: @retroactive ExpressibleByArgument {}
extension VerificationLevel: @retroactive ExpressibleByArgument {}
extension ShareOptions.SeveralStoresPolicy: @retroactive ExpressibleByArgument {}
