public import StoreFormat

/// Reads objects straight from a store, without a context, and changes nothing to get them: not a byte, not even a `-shm`.
///
/// What lies in a write-ahead log is seen. All objects of one fetch are of one state of the store.
public struct ObjectReader: Sendable {
    private let reading: StoreReading

    /// Creates a reader that waits for locks no longer than `lockTimeout`, and asks `isCancelled` now and then.
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

    /// Calls `body` with what `describe` made of each object that a request asks for, in the request's order.
    ///
    /// `describe` may be called for objects that `body` never hears of: when the store is written meanwhile, the reading
    /// begins anew. Throws ``FetchError`` for a request that does not fit the store's model.
    public func forEachObject(
        _ request: FetchRequest,
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
        _ request: FetchRequest,
        in view: StoreView,
        path: String,
        _ body: (FetchedObject) throws -> Void
    ) throws {
        let connection = view.connection
        guard let metadata = try StoreMetadata(reading: connection),
            let numbers = try EntityNumbers(reading: connection)
        else {
            throw StoreError(.incompatible, path: path, "this is no Core Data store, so there are no entities in it")
        }
        let schema = try StoreSchema(reading: connection)
        var model =
            try ManagedObjectModel(cachedIn: connection) ?? .inferred(from: schema, entityNumbers: numbers)
        if model.entities[request.entityName] == nil, numbers.number(of: request.entityName) != nil {
            // The store numbers an entity that the model it keeps calls by another name: its tables tell enough.
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
