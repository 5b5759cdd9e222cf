import StoreAccess
import StoreFixtures

extension ScenarioReader {
    private static let claims = [
        "equal", "different", "sound", "count", "sql", "kind", "fenced", "present", "absent", "unchanged", "mode",
    ]

    func expectations(_ node: RecipeNode) throws(RecipeError) -> [Expectation] {
        var expectations: [Expectation] = []
        for item in try node.list() {
            let mapping = try item.mapping()
            let asked = mapping.entries.filter { Self.claims.contains($0.name) }
            guard let entry = asked.first else {
                throw mapping.without(
                    Self.claims,
                    is: "no expectation",
                    missing: "an expectation is missing here",
                    list: "expectations are"
                )
            }
            if asked.count > 1 { throw asked[1].key.error("one expectation says one thing; begin another with '-'") }
            for (claim, detail) in try claims(entry.name, entry.value, mapping) {
                expectations.append(
                    Expectation(claim: claim, title: "\(entry.name) \(detail)", position: entry.key.position)
                )
            }
        }
        return expectations
    }

    private func claims(
        _ name: String,
        _ value: RecipeNode,
        _ mapping: RecipeMapping
    ) throws(RecipeError) -> [(Expectation.Claim, String)] {
        switch name {
        case "equal", "different":
            try mapping.allow([name])
            let nodes = try value.list()
            guard nodes.count == 2 else { throw value.error("two stores are compared") }
            let (left, right) = (try store(nodes[0]), try store(nodes[1]))
            return [(name == "equal" ? .equal(left, right) : .different(left, right), "\(left) \(right)")]
        case "sound":
            try mapping.allow([name, "level", "finds"])
            let store = try store(value)
            let level = try mapping["level"].map { node throws(RecipeError) in try Self.level(node) } ?? .coredata
            let finds = try mapping["finds"].map { node throws(RecipeError) in try Self.texts(node) } ?? []
            return [(.sound(store: store, level: level, finds: finds), store)]
        case "count":
            try mapping.allow([name, "in", "is", "where"])
            let (entity, store) = (try value.text(), try store(mapping.required("in")))
            let number = try mapping.required("is")
            let text = try number.text()
            guard !Placeholders.names(in: text).isEmpty || Int64(text) != nil else {
                throw number.error("a whole number is expected here")
            }
            try requireKnownProcesses(text, number)
            let claim = Expectation.Claim.count(
                entity: entity,
                store: store,
                predicate: try mapping["where"]?.text(),
                is: text
            )
            return [(claim, "\(entity) in \(store)")]
        case "sql": return [try values(value, mapping)]
        case "kind":
            try mapping.allow([name, "is"])
            let store = try store(value)
            return [(.kind(store: store, try mapping.required("is").word(Expectation.Kind.self)), store)]
        case "fenced":
            try mapping.allow([name, "is"])
            let store = try store(value)
            return [(.fenced(store: store, try mapping["is"]?.boolean() ?? true), store)]
        case "mode":
            try mapping.allow([name, "is"])
            let path = try Self.place(value)
            return [(.mode(path, try Self.mode(mapping.required("is"))), path)]
        case "unchanged":
            try mapping.allow([name, "since"])
            let since = try mapping["since"]?.text()
            if let since, !marks.contains(since), let node = mapping["since"] {
                throw node.error("no mark '\(since)' was set before")
            }
            return try places(value).map { (.unchanged($0, since: since), $0) }
        default:
            try mapping.allow([name])
            return try places(value).map { (name == "present" ? .present($0) : .absent($0), $0) }
        }
    }

    private func values(
        _ value: RecipeNode,
        _ mapping: RecipeMapping
    ) throws(RecipeError) -> (Expectation.Claim, String) {
        try mapping.allow(["sql", "in", "is"])
        let sql = try value.text()
        let store = try store(mapping.required("in"))
        let wanted = try mapping.required("is")
        var values: [String?] = []
        for item in wanted.isList ? try wanted.list() : [wanted] {
            let text = item.isNull ? nil : try item.text()
            if let text { try requireKnownProcesses(text, item) }
            values.append(text)
        }
        return (.values(sql: sql, store: store, are: values, isList: wanted.isList), "in \(store)")
    }

    private func places(_ node: RecipeNode) throws(RecipeError) -> [String] {
        var places: [String] = []
        for item in node.isList ? try node.list() : [node] { places.append(try Self.place(item)) }
        guard !places.isEmpty else { throw node.error("a path is expected here") }
        return places
    }

    /// Throws for a `{NAME}` that is not a process.
    private func requireKnownProcesses(_ text: String, _ node: RecipeNode) throws(RecipeError) {
        for name in Placeholders.names(in: text) where !processes.contains(name) {
            throw node.error("no process '\(name)' was started before")
        }
    }

    private static func level(_ node: RecipeNode) throws(RecipeError) -> VerificationLevel {
        let level = try node.word(VerificationLevel.self)
        guard level <= .coredata else {
            throw node.error("a store alone is proved up to 'coredata'; write 'equal' or run 'verify' for more")
        }
        return level
    }
}
