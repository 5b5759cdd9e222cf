import StoreFixtures

extension ScenarioReader {
    private static let largestCount: Int64 = 1_000_000

    func save(_ node: RecipeNode) throws(RecipeError) -> StoreSave {
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
        return StoreSave(
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
