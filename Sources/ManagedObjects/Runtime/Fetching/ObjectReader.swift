internal import SafeFiles
public import StoreAccess
internal import StoreFormat

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
        let spool = try reading.read(location) { view in
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

/// An object of a store, read without a context.
public struct FetchedObject: Sendable {
    /// A property and its value.
    public struct Property: Hashable, Sendable {
        public let name: String
        /// A value, or the destination of a to-one relationship.
        public let value: PredicateConstant
    }

    /// The object's ID, with its concrete entity, which may inherit from the requested one.
    public let objectID: ManagedObjectID
    /// The stored attributes, then the to-one relationships, each ordered by name.
    public let properties: [Property]

    init(_ row: RowSnapshot, _ layout: Layout) {
        objectID = row.id
        properties =
            layout.attributes.map { Property(name: $0.name, value: .value(row.attribute($0.index))) }
            + layout.toOnes.map {
                Property(name: $0.name, value: row.toOne($0.index).map(PredicateConstant.object) ?? .value(.null))
            }
    }

    /// The indexes of an entity's properties in its rows.
    struct Layout {
        let attributes: [(name: String, index: Int)]
        let toOnes: [(name: String, index: Int)]

        init(_ shape: ObjectShape) {
            attributes = Self.sorted(shape.attributes.enumerated().filter { !$0.element.isTransient }) { $0.name }
            toOnes = Self.sorted(shape.toOnes.enumerated().filter { !$0.element.isTransient }) { $0.name }
        }

        private static func sorted<Element>(
            _ elements: [(offset: Int, element: Element)],
            by name: (Element) -> String
        ) -> [(name: String, index: Int)] {
            elements.map { (name: name($0.element), index: $0.offset) }
                .sorted { ManagedObjectModel.inByteOrder($0.name, $1.name) }
        }
    }
}

/// Buffers texts in memory, and beyond a limit in a temporary file.
final class FetchSpool {
    private static let limit = 1 << 20
    private static let prefixLength = 4

    private var buffer: [UInt8] = []
    private var folder: TemporaryDirectory?
    private var file: DurableFile?
    private var size: Int64 = 0

    func append(_ text: String) throws {
        withUnsafeBytes(of: UInt32(clamping: text.utf8.count).littleEndian) { buffer.append(contentsOf: $0) }
        buffer += text.utf8
        if buffer.count >= Self.limit { try flush() }
    }

    /// Calls `body` with each text in order.
    func forEachText(_ body: (String) throws -> Void) throws {
        var pending: [UInt8] = []
        var offset: Int64 = 0
        var block = [UInt8](repeating: 0, count: file == nil ? 0 : Self.limit)
        while let file, offset < size {
            let count = try block.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
            guard count > 0 else { throw StoreError(.inputOutput, path: "", "the temporary file is truncated") }
            offset += Int64(count)
            pending += block[..<count]
            try take(from: &pending, body)
        }
        pending += buffer
        try take(from: &pending, body)
    }

    /// Consumes the complete texts at the start of `bytes`.
    private func take(from bytes: inout [UInt8], _ body: (String) throws -> Void) throws {
        var position = 0
        while bytes.count - position >= Self.prefixLength {
            let length = bytes[position..<position + Self.prefixLength].reversed().reduce(0) { $0 << 8 | Int($1) }
            let start = position + Self.prefixLength
            guard bytes.count - start >= length else { break }
            try body(String(decoding: bytes[start..<start + length], as: UTF8.self))
            position = start + length
        }
        bytes.removeFirst(position)
    }

    private func flush() throws {
        if file == nil {
            let folder = try TemporaryDirectory(prefix: "store-migrate-fetch")
            self.folder = folder
            file = try folder.directory.createFile("objects", mode: 0o600)
        }
        try buffer.withUnsafeBytes { try file?.write($0, at: size) }
        size += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}

/// Read access without a coordinator: changes nothing, and each view is one snapshot of the store.
struct StoreReading: Sendable {
    private let reader: StoreReader
    private let monitor: WorkMonitor

    init(lockTimeout: Duration, allowsNetworkFileSystem: Bool, isCancelled: (@Sendable () -> Bool)?) {
        monitor = WorkMonitor(onProgress: nil, isCancelled: isCancelled)
        reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    func read<R>(_ location: StoreLocation, _ body: (StoreView) throws -> R) throws -> R {
        try reader.read(location, body)
    }

    func checkCancellation() throws { try monitor.checkCancellation() }
}
