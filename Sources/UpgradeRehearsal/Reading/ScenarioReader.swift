import SafeFiles
import StoreFixtures

/// Reads scenarios; every mistake is reported with file, line and column.
struct ScenarioReader {
    private static let largestScenario = 1_048_576
    private static let defaultDeadline = Duration.seconds(60)

    let path: String
    /// The names of the stores, once they are read.
    var stores: Set<String> = []
    /// The names of the processes that were started so far.
    var processes: Set<String> = []
    /// The names of the marks that were set so far.
    var marks: Set<String> = []

    static func scenario(inFile path: String) throws -> Scenario {
        let (folder, name) = RecipeReader.split(path)
        let bytes: [UInt8]
        do {
            bytes = try Directory.open(path: folder).contents(of: name, limit: largestScenario)
        } catch {
            throw ScenarioError(path: path, position: nil, "the scenario cannot be read (\(error))")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ScenarioError(path: path, position: nil, "the scenario is not UTF-8 text")
        }
        return try scenario(from: text, name: name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name, path: path)
    }

    static func scenario(from text: String, name: String, path: String) throws(ScenarioError) -> Scenario {
        do throws(RecipeError) {
            let node = try RecipeNode(yaml: text, path: path, what: "scenario")
            var reader = ScenarioReader(path: path)
            return try reader.scenario(node, name: name)
        } catch {
            throw ScenarioError(error)
        }
    }

    private mutating func scenario(_ node: RecipeNode, name: String) throws(RecipeError) -> Scenario {
        let mapping = try node.mapping()
        try mapping.allow(["about", "story", "deadline", "stores", "files", "steps", "holds"])
        let about = try mapping.required("about").text()
        var stores: [ScenarioStore] = []
        for entry in try mapping.required("stores").mapping().entries {
            try Self.requireName(entry.key, entry.name)
            stores.append(try store(entry.name, entry.value))
            self.stores.insert(entry.name)
        }
        guard !stores.isEmpty else { throw try mapping.required("stores").error("a scenario has at least one store") }
        let files = try mapping["files"].map { node throws(RecipeError) in try self.files(node) } ?? []
        let steps = try mapping.required("steps")
        let read = try self.steps(steps)
        guard !read.isEmpty else { throw steps.error("a scenario has at least one step") }
        let holds = try mapping.required("holds")
        let expectations = try self.expectations(holds)
        guard !expectations.isEmpty else { throw holds.error("something must hold at the end") }
        return Scenario(
            name: name,
            path: path,
            about: about.trimmed,
            story: try mapping["story"]?.texts() ?? [],
            deadline: try mapping["deadline"].map { node throws(RecipeError) in try Self.duration(node) }
                ?? Self.defaultDeadline,
            stores: stores,
            files: files,
            steps: read,
            expectations: expectations
        )
    }

    private func store(_ name: String, _ node: RecipeNode) throws(RecipeError) -> ScenarioStore {
        let mapping = try node.mapping()
        try mapping.allow(["at", "recipe", "file"])
        return ScenarioStore(
            name: name,
            place: try Self.place(mapping.required("at"), mayBeFolder: false),
            source: try source(mapping),
            position: node.position
        )
    }

    /// What a store is made from, by the keys `recipe` and `file`.
    func source(_ mapping: RecipeMapping) throws(RecipeError) -> StoreSource? {
        switch (mapping["recipe"], mapping["file"]) {
        case (nil, nil): return nil
        case (.some, let file?): throw file.error("a store comes from a recipe or from a file")
        case (nil, let file?):
            let path = outside(try file.text())
            let (folder, name) = RecipeReader.split(path)
            guard (try? Directory.open(path: folder).status(of: name))?.kind == .regular else {
                throw file.error("there is no file at \(path)")
            }
            return .file(path)
        case (let recipe?, nil):
            if recipe.isMapping { return .recipe(try RecipeReader.recipe(recipe)) }
            let path = outside(try recipe.text())
            do {
                return .recipe(try RecipeReader.recipe(inFile: path))
            } catch let error as RecipeError {
                // A missing recipe is a mistake of the scenario.
                throw error.position == nil ? recipe.error(error.message + ": " + path) : error
            } catch {
                throw recipe.error("the recipe cannot be read (\(error))")
            }
        }
    }

    /// A path, resolved against the scenario's folder.
    func outside(_ text: String) -> String {
        text.hasPrefix("/") ? text : RecipeReader.split(path).folder + "/" + text
    }

    /// Checks a path of the scratch folder: relative, without `..`; the trailing slash of a folder is removed.
    static func place(_ node: RecipeNode, _ text: String? = nil, mayBeFolder: Bool = true) throws(RecipeError) -> String
    {
        let text = if let text { text } else { try node.text() }
        let isFolder = text.hasSuffix("/")
        let parts = (isFolder ? String(text.dropLast()) : text).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !["", ".", ".."].contains($0) }), !text.utf8.contains(0) else {
            throw node.error("'\(text)' is not a path within the scratch folder")
        }
        guard mayBeFolder || !isFolder else { throw node.error("'\(text)' is the path of a folder, not of a file") }
        return isFolder ? String(text.dropLast()) : text
    }

    /// Checks the name of a store, a process or a mark.
    static func requireName(_ node: RecipeNode, _ name: String) throws(RecipeError) {
        let isNamed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isNamed, !name.isEmpty, !["place", "n"].contains(name) else {
            throw node.error("'\(name)' is not a valid name: use letters, digits, - and _, and neither 'place' nor 'n'")
        }
    }

    /// The name of a store of the scenario.
    func store(_ node: RecipeNode) throws(RecipeError) -> String {
        let name = try node.text()
        guard stores.contains(name) else {
            throw node.error("no store is called '\(name)'; there are \(stores.sorted().joined(separator: ", "))")
        }
        return name
    }

    /// The name of a process that was started before.
    func process(_ node: RecipeNode) throws(RecipeError) -> String {
        let name = try node.text()
        guard processes.contains(name) else { throw node.error("no process '\(name)' was started before") }
        return name
    }

    static func duration(_ node: RecipeNode) throws(RecipeError) -> Duration {
        let text = try node.text()
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), number > 0, number <= 3_600_000 else {
            throw node.error("a time such as 500ms, 20s or 2m is expected here")
        }
        switch text.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s": return .seconds(number)
        case "m": return .seconds(number * 60)
        default: throw node.error("a time such as 500ms, 20s or 2m is expected here")
        }
    }

    /// One text, or a list of them.
    static func texts(_ node: RecipeNode) throws(RecipeError) -> [String] {
        node.isList ? try node.texts() : [try node.text()]
    }

    static func mode(_ node: RecipeNode) throws(RecipeError) -> UInt32 {
        let text = try node.text()
        guard (3...4).contains(text.utf8.count), let mode = UInt32(text, radix: 8) else {
            throw node.error("permissions such as \"0640\" are expected here")
        }
        return mode
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = Substring(self)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension ScenarioReader {
    private static let contents = [
        "text", "bytes", "from", "copy", "move", "link", "hardLink", "remove", "truncate", "flip",
    ]
    private static let largestFile: Int64 = 1 << 30

    /// The changes of files in a mapping from paths.
    func files(_ node: RecipeNode) throws(RecipeError) -> [FileChange] {
        var changes: [FileChange] = []
        for entry in try node.mapping().entries {
            changes.append(try change(entry.key, entry.name, entry.value))
        }
        return changes
    }

    private func change(_ key: RecipeNode, _ name: String, _ node: RecipeNode) throws(RecipeError) -> FileChange {
        let isFolder = name.hasSuffix("/")
        let path = try Self.place(key, name)
        let mapping = try node.mapping()
        try mapping.allow(Self.contents + ["fill", "mode", "owner"])
        let asked = mapping.entries.filter { Self.contents.contains($0.name) }
        if asked.count > 1 { throw asked[1].key.error("one path becomes one thing; '\(asked[0].name)' is there, too") }
        if let fill = mapping["fill"], mapping["bytes"] == nil { throw fill.error("'fill' goes with 'bytes'") }
        var content: FileChange.Content?
        if let entry = asked.first {
            content = try self.content(entry.name, entry.value, mapping)
            if isFolder, !["copy", "move", "remove", "link"].contains(entry.name) {
                throw entry.key.error("'\(name)' is a folder; '\(entry.name)' makes a file")
            }
        } else if mapping.entries.isEmpty || isFolder {
            content = isFolder ? .folder : .text("")
        }
        if let owner = mapping["owner"] {
            guard try owner.text() == "nobody" else { throw owner.error("files can be given to 'nobody' only") }
        }
        return FileChange(
            path: path,
            content: content,
            mode: try mapping["mode"].map { node throws(RecipeError) in try Self.mode(node) },
            isGivenAway: mapping["owner"] != nil,
            position: key.position
        )
    }

    private func content(
        _ name: String,
        _ value: RecipeNode,
        _ mapping: RecipeMapping
    ) throws(RecipeError) -> FileChange.Content {
        switch name {
        case "text": return .text(try value.text())
        case "bytes":
            let count = Int(try value.integer(in: 0...Self.largestFile))
            return .bytes(count, fill: try mapping["fill"]?.text() ?? "")
        case "from": return .from(outside(try value.text()))
        case "copy": return .copy(try Self.place(value))
        case "move": return .move(try Self.place(value))
        case "link": return .link(try Self.place(value))
        case "hardLink": return .hardLink(try Self.place(value))
        case "truncate": return .truncate(try value.integer(in: 0...Self.largestFile))
        case "flip": return .flip(try value.integer())
        default:
            guard try value.boolean() else { throw value.error("write 'remove: true', or leave it out") }
            return .remove
        }
    }
}

extension ScenarioReader {
    private static let largestCount: Int64 = 1_000_000

    func save(_ node: RecipeNode) throws(RecipeError) -> ContextSave {
        let mapping = try node.mapping()
        try mapping.allow(["in", "by", "author", "insert", "update", "delete", "refused"])
        var insertions: [ContextChanges.Insertion] = []
        for item in try mapping["insert"]?.list() ?? [] {
            let object = try item.mapping()
            try object.allow(["entity", "repeat", "values"])
            insertions.append(
                ContextChanges.Insertion(
                    entity: try object.required("entity").text(),
                    count: try object["repeat"]?.integer(in: 1...Self.largestCount) ?? 1,
                    values: try values(object["values"])
                )
            )
        }
        var updates: [ContextChanges.Update] = []
        for item in try mapping["update"]?.list() ?? [] {
            let object = try item.mapping()
            try object.allow(["entity", "where", "values"])
            updates.append(
                ContextChanges.Update(
                    entity: try object.required("entity").text(),
                    predicate: try object.required("where").text(),
                    values: try values(object.required("values"))
                )
            )
        }
        var deletions: [ContextChanges.Deletion] = []
        for item in try mapping["delete"]?.list() ?? [] {
            let object = try item.mapping()
            try object.allow(["entity", "where"])
            deletions.append(
                ContextChanges.Deletion(
                    entity: try object.required("entity").text(),
                    predicate: try object.required("where").text()
                )
            )
        }
        guard insertions.count + updates.count + deletions.count > 0 else {
            throw node.error("a save has something to insert, update or delete")
        }
        return ContextSave(
            store: try store(mapping.required("in")),
            changes: ContextChanges(
                author: try mapping["author"]?.text(),
                insertions: insertions,
                updates: updates,
                deletions: deletions
            ),
            process: try mapping["by"].map { node throws(RecipeError) in try process(node) },
            refusal: try refusal(mapping)
        )
    }

    private func values(_ node: RecipeNode?) throws(RecipeError) -> [String: ContextChanges.Value] {
        var values: [String: ContextChanges.Value] = [:]
        for entry in try node?.mapping().entries ?? [] { values[entry.name] = try value(entry.value) }
        return values
    }

    private func value(_ node: RecipeNode) throws(RecipeError) -> ContextChanges.Value {
        if node.isList { return .list(try node.texts()) }
        if node.isMapping {
            let mapping = try node.mapping()
            try mapping.allow(["bytes", "fill"])
            return .bytes(
                count: Int(try mapping.required("bytes").integer(in: 0...100_000_000)),
                fill: try mapping["fill"]?.text() ?? ""
            )
        }
        return node.isNull ? .null : .text(try node.text())
    }
}
