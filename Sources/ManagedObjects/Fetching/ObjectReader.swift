public import StoreFormat

/// Reads objects directly from a store, without a context and without any write, not even of the `-shm` file.
///
/// Includes rows in the WAL. All objects of a fetch come from one snapshot of the store.
public struct ObjectReader: BlockingCalls {
    private let reading: StoreReading

    /// Creates a reader that waits for a lock up to `lockTimeout` and calls `isCancelled` regularly.
    public init(
        lockTimeout: Duration = .seconds(20),
        allowsNetworkFileSystem: Bool = false,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        reading = StoreReading(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            isCancelled: isCancelled
        )
    }

    /// Calls `body` with the description of each fetched object, in the order of the request.
    ///
    /// `describe` may be called for objects that `body` never receives: the read restarts when the store is written
    /// meanwhile. Throws ``FetchError`` for a request that does not fit the store's model.
    public func forEachObject(
        _ request: FetchRequest<ManagedObject>,
        in location: StoreLocation,
        describedBy describe: (FetchedObject) throws -> String,
        _ body: (String) throws -> Void
    ) throws {
        let spool = try reading.withView(of: location) { view in
            let spool = FetchSpool()
            try forEachObject(request, in: view, path: location.path) { try spool.append(describe($0)) }
            return spool
        }
        try spool.forEachText(body)
    }

    private func forEachObject(
        _ request: FetchRequest<ManagedObject>,
        in view: StoreView,
        path: String,
        _ body: (FetchedObject) throws -> Void
    ) throws {
        let connection = view.connection
        guard let metadata = try StoreMetadata(reading: connection),
            let numbers = try EntityNumbers(reading: connection)
        else {
            throw StoreError(.plainStore, path: path, "a plain SQLite store has tables, and no entities to fetch")
        }
        let schema = try StoreSchema(reading: connection)
        var model =
            try ManagedObjectModel(cachedIn: connection) ?? .inferred(from: schema, entityNumbers: numbers)
        if model.entitiesByName[request.entityName] == nil, numbers.number(of: request.entityName) != nil {
            // The store's entity numbers name an entity that its cached model lacks: the tables are sufficient.
            model = .inferred(from: schema, entityNumbers: numbers)
        }
        let layout = StoreLayout(model: model, schema: schema, entityNumbers: numbers)
        let fetch = try request.resolved(in: model)
        guard let entity = layout.entities[request.entityName] else {
            throw FetchError(entity: request.entityName, keyPath: "", message: "the store has no table for this entity")
        }
        let shape = ModelShape(model)
        let plan = try RowPlan(
            entity,
            includingSubentities: request.includesSubentities,
            layout: layout,
            model: shape,
            families: ObjectIDFamilies(layout, storeUUID: metadata.uuid)
        )
        for function in SQLFunction.forPredicates() { try connection.install(function) }
        let compiler = FetchCompiler(layout: layout, storeUUID: metadata.uuid)
        let columns = SQLFragment(plan.selection(alias: PredicateCompiler.alias))
        let statement = try compiler.statement(fetch, selecting: columns)
        let time = ContinuousClock.now
        let layouts = shape.entities.mapValues(FetchedObject.Layout.init)
        try connection.forEachRow(statement.sql, statement.arguments) { row in
            try reading.checkCancellation()
            guard let snapshot = try plan.snapshot(row, time: time), let layout = layouts[snapshot.id.entityName]
            else { return }
            try body(FetchedObject(snapshot, layout))
        }
    }
}
