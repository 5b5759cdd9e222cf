import NearNames
import SafeFiles
import StoreAccess
import StoreFormat

/// Reads recipes; every mistake is reported with file, line and column.
package struct RecipeReader {
    private static let largestRecipe = 1_048_576
    /// The maximum of every count in a recipe.
    static let largestCount: Int64 = 100_000_000

    let path: String

    /// Reads the recipe in a file.
    package static func recipe(inFile path: String) throws -> StoreRecipe {
        let (folder, name) = split(path)
        let bytes: [UInt8]
        do {
            bytes = try Directory.open(path: folder).contents(of: name, limit: largestRecipe)
        } catch {
            throw RecipeError(path: path, position: nil, "the recipe cannot be read (\(error))")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RecipeError(path: path, position: nil, "the recipe is not UTF-8 text")
        }
        return try recipe(from: text, path: path)
    }

    /// Reads a recipe from text; `path` is the file for errors, and other recipes are found relative to it.
    package static func recipe(from text: String, path: String = "") throws -> StoreRecipe {
        try recipe(RecipeNode(yaml: text, path: path, what: "recipe"))
    }

    /// Reads a recipe that is part of a larger text.
    package static func recipe(_ node: RecipeNode) throws(RecipeError) -> StoreRecipe {
        try RecipeReader(path: node.path).recipe(node)
    }

    /// The folder and the name of a path.
    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = String(path[..<slash])
        return (folder.isEmpty ? "/" : folder, String(path[path.index(after: slash)...]))
    }

    private func recipe(_ node: RecipeNode) throws(RecipeError) -> StoreRecipe {
        let mapping = try node.mapping()
        try mapping.allow(["about", "seed", "options", "model", "saves", "sql", "damage"])
        var content: StoreRecipe.Content
        switch (mapping["model"], mapping["sql"]) {
        case (let model?, nil):
            let model = try self.model(model)
            var saves: [RecipeSave] = []
            for save in try mapping["saves"]?.list() ?? [] { saves.append(try self.save(save)) }
            content = .model(model, saves: saves)
        case (nil, let sql?):
            if let saves = mapping["saves"] { throw saves.error("saves need a model; a recipe in SQL has statements") }
            var statements: [RecipeStatement] = []
            for statement in try sql.list() { statements.append(try self.statement(statement)) }
            content = .statements(statements)
        case (.some, let sql?): throw sql.error("a recipe has either a model or SQL statements")
        case (nil, nil): throw node.error("the recipe has neither the key 'model' nor the key 'sql'")
        }
        var damage: [RecipeDamage] = []
        for item in try mapping["damage"]?.list() ?? [] { damage.append(try self.damage(item)) }
        return StoreRecipe(
            seed: try mapping.required("seed").text(),
            options: try mapping["options"].map(options) ?? StoreRecipe.Options(),
            content: content,
            damage: damage,
            path: path
        )
    }

    private func options(_ node: RecipeNode) throws(RecipeError) -> StoreRecipe.Options {
        let mapping = try node.mapping()
        try mapping.allow([
            "journalMode", "pageSize", "history", "leftInWriteAheadLog", "bundle", "process", "metadata",
        ])
        var options = StoreRecipe.Options()
        if let mode = mapping["journalMode"] { options.journalMode = try mode.word(JournalWord.self).mode }
        if let size = mapping["pageSize"] {
            options.pageSize = Int(try size.integer(in: 512...65_536))
            guard options.pageSize.nonzeroBitCount == 1 else {
                throw size.error("a page size is a power of two from 512 to 65536")
            }
        }
        if let history = mapping["history"] { options.tracksHistory = try history.boolean() }
        if let left = mapping["leftInWriteAheadLog"] {
            options.leftInLog = try left.word(StoreRecipe.LogRemainder.self)
            guard options.journalMode == .wal || options.leftInLog == .nothing else {
                throw left.error("only a store with the journal mode 'wal' has a write-ahead log")
            }
        }
        options.bundle = try mapping["bundle"]?.text()
        options.process = try mapping["process"]?.text()
        for entry in try mapping["metadata"]?.mapping().entries ?? [] {
            options.metadata[entry.name] = .string(try entry.value.text())
        }
        return options
    }

    private func statement(_ node: RecipeNode) throws(RecipeError) -> RecipeStatement {
        if node.isScalar {
            return RecipeStatement(sql: try node.text(), count: 1, isCheckpointed: false, position: node.position)
        }
        let mapping = try node.mapping()
        try mapping.allow(["statement", "repeat", "checkpoint"])
        return RecipeStatement(
            sql: try mapping.required("statement").text(),
            count: try mapping["repeat"]?.integer(in: 0...Self.largestCount) ?? 1,
            isCheckpointed: try mapping["checkpoint"]?.boolean() ?? false,
            position: node.position
        )
    }

    private enum JournalWord: String, CaseIterable {
        case wal
        case rollback

        var mode: StoreHeader.JournalMode { self == .wal ? .wal : .rollback }
    }
}

extension RecipeReader {
    func save(_ node: RecipeNode) throws(RecipeError) -> RecipeSave {
        let mapping = try node.mapping()
        try mapping.allow(["author", "context", "at", "insert", "update", "delete", "checkpoint"])
        var insertions: [RecipeSave.Insertion] = []
        for item in try mapping["insert"]?.list() ?? [] { insertions.append(try insertion(item)) }
        var changes: [RecipeSave.Change] = []
        for item in try mapping["update"]?.list() ?? [] {
            let change = try item.mapping()
            try change.allow(["object", "values"])
            changes.append(
                RecipeSave.Change(
                    object: try change.required("object").text(),
                    values: try properties(change.required("values")),
                    position: item.position
                )
            )
        }
        var deletions: [RecipeSave.Deletion] = []
        for item in try mapping["delete"]?.list() ?? [] {
            deletions.append(RecipeSave.Deletion(object: try item.text(), position: item.position))
        }
        let at = try mapping.required("at")
        guard let timestamp = RecipeDate.seconds(try at.text()) else {
            throw at.error("a date such as 2026-01-31 or 2026-01-31T08:00:00Z is expected here")
        }
        return RecipeSave(
            author: try mapping["author"]?.text(),
            context: try mapping["context"]?.text(),
            timestamp: timestamp,
            insertions: insertions,
            changes: changes,
            deletions: deletions,
            isCheckpointed: try mapping["checkpoint"]?.boolean() ?? false,
            position: node.position
        )
    }

    private func insertion(_ node: RecipeNode) throws(RecipeError) -> RecipeSave.Insertion {
        let mapping = try node.mapping()
        try mapping.allow(["entity", "name", "repeat", "values"])
        return RecipeSave.Insertion(
            entity: try mapping.required("entity").text(),
            name: try mapping["name"]?.text(),
            count: try mapping["repeat"]?.integer(in: 0...Self.largestCount) ?? 1,
            values: try mapping["values"].map(properties) ?? [],
            position: node.position
        )
    }

    private func properties(_ node: RecipeNode) throws(RecipeError) -> [RecipeProperty] {
        var properties: [RecipeProperty] = []
        for entry in try node.mapping().entries {
            properties.append(
                RecipeProperty(name: entry.name, value: try value(entry.value), position: entry.key.position)
            )
        }
        return properties
    }

    /// A scalar, a list of destinations, or a mapping with a series of values.
    private func value(_ node: RecipeNode) throws(RecipeError) -> RecipeValue {
        if node.isList {
            return RecipeValue(form: .list(try scalars(node)), position: node.position)
        }
        guard node.isMapping else { return try scalar(node) }
        let mapping = try node.mapping()
        let every = try mapping["every"]?.integer(in: 1...Self.largestCount) ?? 1
        if let turns = mapping["cycle"] {
            try mapping.allow(["cycle", "every"])
            let values = try scalars(turns)
            guard !values.isEmpty else { throw turns.error("at least one value is expected here") }
            return RecipeValue(form: .cycle(values, every: every), position: node.position)
        }
        if let start = mapping["start"] {
            try mapping.allow(["start", "step", "every"])
            let step = try mapping.required("step").text()
            return RecipeValue(
                form: .series(start: try start.text(), step: step, every: every),
                position: node.position
            )
        }
        if let count = mapping["bytes"] {
            try mapping.allow(["bytes", "fill"])
            let form = RecipeValue.Form.bytes(
                count: Int(try count.integer(in: 0...Self.largestCount)),
                fill: try mapping["fill"]?.text() ?? ""
            )
            return RecipeValue(form: form, position: node.position)
        }
        throw node.error("a value is a scalar, a list, or a mapping with 'cycle', 'start' and 'step', or 'bytes'")
    }

    private func scalars(_ node: RecipeNode) throws(RecipeError) -> [RecipeValue] {
        var values: [RecipeValue] = []
        for item in try node.list() { values.append(try scalar(item)) }
        return values
    }

    private func scalar(_ node: RecipeNode) throws(RecipeError) -> RecipeValue {
        RecipeValue(form: node.isNull ? .null : .text(try node.text()), position: node.position)
    }
}

extension RecipeReader {
    /// A mapping with one key, the kind of damage.
    func damage(_ node: RecipeNode) throws(RecipeError) -> RecipeDamage {
        let mapping = try node.mapping()
        guard mapping.entries.count == 1, let entry = mapping.entries.first else {
            throw node.error("one kind of damage is expected here, such as 'deleteExternalFile: true'")
        }
        return RecipeDamage(kind: try kind(entry.name, entry.value, entry.key), position: node.position)
    }

    private func kind(
        _ name: String,
        _ value: RecipeNode,
        _ key: RecipeNode
    ) throws(RecipeError) -> RecipeDamage.Kind {
        switch name {
        case "statement": return .statement(try value.text())
        case "greatestKey":
            let keys = try fields(value, ["entity", "value"])
            return .greatestKey(
                entity: try keys.required("entity").text(),
                value: try keys.required("value").integer()
            )
        case "danglingRelationship":
            let keys = try fields(value, ["object", "relationship"])
            return .danglingRelationship(
                object: try keys.required("object").text(),
                relationship: try keys.required("relationship").text()
            )
        case "wrongEntity":
            let keys = try fields(value, ["object", "number"])
            return .wrongEntity(
                object: try keys.required("object").text(),
                number: try keys.required("number").integer()
            )
        case "missingIndexEntry":
            let keys = try fields(value, ["index", "row"])
            return .missingIndexEntry(
                index: try keys.required("index").text(),
                row: try keys.required("row").integer()
            )
        case "hotJournal": return .hotJournal(statements: try value.texts())
        default: return try fileKind(name, value, key)
        }
    }

    private func fileKind(
        _ name: String,
        _ value: RecipeNode,
        _ key: RecipeNode
    ) throws(RecipeError) -> RecipeDamage.Kind {
        switch name {
        case "deleteExternalFile":
            guard try value.boolean() else { throw value.error("'true' is expected here") }
            return .deleteExternalFile
        case "orphanExternalFile": return .orphanExternalFile(bytes: try bytes(value))
        case "truncateExternalFile": return .truncateExternalFile(bytes: Int64(try bytes(value)))
        case "truncate":
            let keys = try fields(value, ["file", "bytes"])
            return .truncate(try file(keys), bytes: Int64(try bytes(keys.required("bytes"))))
        case "flipByte":
            let keys = try fields(value, ["file", "offset"])
            return .flipByte(try file(keys), offset: try keys.required("offset").integer())
        case "remove": return .remove(try value.word(RecipeDamage.File.self))
        case "overwrite":
            let keys = try fields(value, ["file", "text"])
            return .overwrite(try file(keys), text: try keys.required("text").text())
        case "foreignWriteAheadLog": return .foreignWriteAheadLog(recipe: try value.text())
        case "staleSharedMemory": return .staleSharedMemory(bytes: try bytes(value))
        default:
            let hint = NearName.hint(name, among: Self.damageNames, list: "known are")
            throw key.error("the damage '\(name)' is not known here; \(hint)")
        }
    }

    private static let damageNames = [
        "statement", "greatestKey", "danglingRelationship", "wrongEntity", "missingIndexEntry", "hotJournal",
        "deleteExternalFile", "orphanExternalFile", "truncateExternalFile", "truncate", "flipByte", "remove",
        "overwrite", "foreignWriteAheadLog", "staleSharedMemory",
    ]

    private func fields(_ node: RecipeNode, _ names: [String]) throws(RecipeError) -> RecipeMapping {
        let mapping = try node.mapping()
        try mapping.allow(names)
        return mapping
    }

    private func file(_ mapping: RecipeMapping) throws(RecipeError) -> RecipeDamage.File {
        try mapping.required("file").word(RecipeDamage.File.self)
    }

    private func bytes(_ node: RecipeNode) throws(RecipeError) -> Int {
        Int(try node.integer(in: 0...Self.largestCount))
    }
}
