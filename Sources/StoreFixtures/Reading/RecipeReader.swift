import SafeFiles
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
