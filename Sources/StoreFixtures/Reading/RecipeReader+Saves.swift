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
