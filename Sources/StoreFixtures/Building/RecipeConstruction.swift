import SafeFiles
import StoreAccess
import StoreFormat
import StoreWriting

/// One store during its construction: its connection, and the recipe's names of objects.
final class RecipeConstruction {
    let recipe: StoreRecipe
    let location: StoreLocation
    let connection: StoreConnection
    let values: RecipeValues
    private let external: ExternalDataWriter
    private let builder: StoreBuilder?
    private var writer: RowWriter?
    private var objects: [String: ObjectKey] = [:]

    /// Makes the file and, for a model, the schema.
    init(_ recipe: StoreRecipe, at location: StoreLocation, in directory: Directory) throws {
        self.recipe = recipe
        self.location = location
        var identifiers = SeededIdentifiers(seed: recipe.seed)
        values = RecipeValues(path: recipe.path, identifiers: identifiers)
        let uuid = identifiers.nextText()
        external = ExternalDataWriter(location, in: directory, identifiers: identifiers)
        var isCoreData = false
        if case .model(let model, _) = recipe.content {
            var options = StoreBuilder.Options()
            options.journalMode = recipe.options.journalMode
            options.pageSize = recipe.options.pageSize
            options.tracksHistory = recipe.options.tracksHistory
            options.metadata = recipe.options.metadata
            do {
                builder = try StoreBuilder(model, uuid: uuid, options: options)
            } catch {
                throw RecipeError(path: recipe.path, position: nil, "no store can be made of the model: \(error)")
            }
            isCoreData = true
        } else {
            builder = nil
        }
        connection = try NewStoreFile.create(
            location,
            in: directory,
            layout: NewStoreFile.Layout(
                journalMode: recipe.options.journalMode,
                pageSize: recipe.options.pageSize,
                vacuumsIncrementally: isCoreData
            )
        )
    }

    /// Writes the recipe's content, and returns the number of objects or rows.
    func fill() throws -> Int64 {
        switch recipe.content {
        case .model(_, let saves):
            if let builder {
                try builder.writeSchema(to: connection)
                writer = try RowWriter(connection, layout: builder.layout(of: connection), external: external)
            }
            if recipe.options.leftInLog == .rows { try checkpoint() }
            for save in saves {
                try perform(save)
                if save.isCheckpointed { try checkpoint() }
            }
        case .statements(let statements):
            for statement in statements {
                for n in 1...max(1, statement.count) where statement.count > 0 {
                    do {
                        try connection.execute(values.expand(statement.sql, n))
                    } catch {
                        throw located(error, statement.position)
                    }
                }
                if statement.isCheckpointed { try checkpoint() }
            }
        }
        if recipe.options.leftInLog == .nothing { try checkpoint() }
        return try countObjects()
    }

    /// Closes the store, cleanly or with its log left in place.
    func close() throws {
        if recipe.options.leftInLog == .nothing {
            try checkpoint()
            try NewStoreFile.closeClean(connection)
        } else {
            try connection.close()
        }
    }

    func object(_ name: String, _ position: RecipePosition) throws(RecipeError) -> ObjectKey {
        guard let key = objects[name] else {
            throw values.error(position, "no object is called '\(name)' here; objects are named with 'name'")
        }
        return key
    }

    func layout(_ position: RecipePosition) throws(RecipeError) -> StoreLayout {
        guard let writer else { throw values.error(position, "this needs a recipe with a model") }
        return writer.layout
    }

    /// Converts an error of the store that the recipe caused to a mistake of the recipe.
    func located(_ error: any Error, _ position: RecipePosition) -> any Error {
        guard let error = error as? StoreError, error.code == .incompatible || error.code == .failed else {
            return error
        }
        return values.error(position, error.message)
    }

    private func checkpoint() throws {
        if recipe.options.journalMode == .wal { try NewStoreFile.checkpoint(connection) }
    }

    private func countObjects() throws -> Int64 {
        let tables: [String]
        if let builder {
            tables = builder.shape.tables.filter { $0.joinKey == nil }.map(\.name)
        } else {
            tables = try StoreSchema(reading: connection).tables
                .filter { $0.kind == .ordinary || $0.kind == .withoutRowID }.map(\.name)
        }
        var count: Int64 = 0
        for table in tables {
            count += try connection.value("SELECT count(*) FROM \(SQLName.quoted(table))")?.integer ?? 0
        }
        return count
    }
}

extension RecipeConstruction {
    /// Makes one save: rows first, then relationships, so that objects may refer to each other in any order.
    private func perform(_ save: RecipeSave) throws {
        guard let writer else { return }
        let origin = HistoryWriter.Origin(
            author: save.author,
            context: save.context,
            bundle: recipe.options.bundle,
            process: recipe.options.process,
            timestamp: save.timestamp
        )
        _ = try writer.save(from: origin, deadline: Deadline(after: .seconds(20))) {
            let firstKeys = try save.insertions.map { try insert($0, writer) }
            for (insertion, firstKey) in zip(save.insertions, firstKeys) {
                try connect(insertion, firstKey, writer)
            }
            for change in save.changes {
                let key = try object(change.object, change.position)
                try update(key, change.values, owner: change.object, writer)
            }
            for deletion in save.deletions {
                let key = try object(deletion.object, deletion.position)
                do { try writer.delete(key) } catch { throw located(error, deletion.position) }
            }
        }
    }

    private func insert(_ insertion: RecipeSave.Insertion, _ writer: RowWriter) throws -> Int64 {
        guard insertion.count > 0 else { return 0 }
        if insertion.count > 1, let name = insertion.name, !name.contains("{n}") {
            throw values.error(insertion.position, "the name of repeated objects must contain {n}")
        }
        do {
            let entity = try writer.entity(insertion.entity)
            let firstKey = try writer.allocateKeys(for: insertion.entity, count: insertion.count)
            for n in 1...insertion.count {
                let key = ObjectKey(entity: insertion.entity, primaryKey: firstKey + n - 1)
                var attributes: [String: SQLValue] = [:]
                for property in insertion.values where entity.relationship(property.name) == nil {
                    guard let slot = entity.attribute(property.name) else {
                        throw values.error(
                            property.position,
                            "\(insertion.entity) has no property '\(property.name)'"
                        )
                    }
                    attributes[property.name] = try values.attribute(
                        property.value,
                        slot.description,
                        repetition: n,
                        owner: "\(entity.root).\(key.primaryKey)"
                    )
                }
                try writer.insert(key, attributes)
                try remember(insertion.name.map { values.expand($0, n) }, key, insertion.position)
            }
            return firstKey
        } catch {
            throw located(error, insertion.position)
        }
    }

    private func remember(_ name: String?, _ key: ObjectKey, _ position: RecipePosition) throws(RecipeError) {
        guard let name else { return }
        guard objects.updateValue(key, forKey: name) == nil else {
            throw values.error(position, "two objects are called '\(name)'")
        }
    }

    private func connect(_ insertion: RecipeSave.Insertion, _ firstKey: Int64, _ writer: RowWriter) throws {
        guard insertion.count > 0 else { return }
        let entity = try writer.entity(insertion.entity)
        let properties = insertion.values.filter { entity.relationship($0.name) != nil }
        guard !properties.isEmpty else { return }
        for n in 1...insertion.count {
            let key = ObjectKey(entity: insertion.entity, primaryKey: firstKey + n - 1)
            for property in properties { try connect(key, property, repetition: n, writer) }
        }
    }

    private func connect(
        _ key: ObjectKey,
        _ property: RecipeProperty,
        repetition n: Int64,
        _ writer: RowWriter
    ) throws {
        for name in try values.destinations(property.value, repetition: n) {
            let destination = try object(name, property.value.position)
            do {
                try writer.connect(key, property.name, to: destination)
            } catch {
                throw located(error, property.position)
            }
        }
    }

    private func update(
        _ key: ObjectKey,
        _ properties: [RecipeProperty],
        owner: String,
        _ writer: RowWriter
    ) throws {
        let entity = try writer.entity(key.entity)
        var attributes: [String: SQLValue] = [:]
        for property in properties {
            if entity.relationship(property.name) != nil {
                try connect(key, property, repetition: 1, writer)
            } else if let slot = entity.attribute(property.name) {
                attributes[property.name] = try values.attribute(
                    property.value,
                    slot.description,
                    repetition: 1,
                    owner: owner
                )
            } else {
                throw values.error(property.position, "\(key.entity) has no property '\(property.name)'")
            }
        }
        do {
            try writer.update(key, attributes)
        } catch {
            throw located(error, properties.first?.position ?? RecipePosition(line: 1, column: 1))
        }
    }
}
