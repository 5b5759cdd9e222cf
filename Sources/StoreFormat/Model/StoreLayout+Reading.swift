extension ManagedObjectModel {
    /// Reads the model that Core Data keeps in a store; nil when there is none, or none that can be decoded.
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
    /// Reads where a store keeps what `model` describes, or the model that the store itself keeps.
    ///
    /// Nil when there is no model, or when the store does not number entities and so is not one of Core Data's.
    package init?(reading connection: StoreConnection, model: ManagedObjectModel? = nil) throws {
        guard
            let numbers = try EntityNumbers(reading: connection),
            let model = try model ?? ManagedObjectModel(cachedIn: connection)
        else { return nil }
        self.init(model: model, schema: try StoreSchema(reading: connection), entityNumbers: numbers)
    }
}
