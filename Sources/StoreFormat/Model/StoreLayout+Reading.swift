extension ManagedObjectModel {
    /// Reads the model that Core Data keeps in a store; nil if it is missing or cannot be decoded.
    package init?(cachedIn connection: StoreConnection) throws {
        let isPresent = "SELECT count(*) FROM pragma_table_info('Z_MODELCACHE') WHERE upper(name) = 'Z_CONTENT'"
        guard try connection.value(isPresent)?.integer == 1,
            let bytes = try connection.value("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")?.blob,
            let model = try? ManagedObjectModel(modelCache: bytes)
        else { return nil }
        self = model
    }
}

extension StoreLayout {
    /// Reads the tables and columns of `model`, or of the model in the store itself.
    ///
    /// Nil if there is no model, or if the store does not number entities and so is not a Core Data store.
    package init?(reading connection: StoreConnection, model: ManagedObjectModel? = nil) throws {
        guard
            let numbers = try EntityNumbers(reading: connection),
            let model = try model ?? ManagedObjectModel(cachedIn: connection)
        else { return nil }
        self.init(model: model, schema: try StoreSchema(reading: connection), entityNumbers: numbers)
    }
}
