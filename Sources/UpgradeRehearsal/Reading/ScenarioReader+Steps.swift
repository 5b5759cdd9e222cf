import StoreFixtures

extension ScenarioReader {
    private static let actions = [
        "make", "write", "save", "start", "stop", "kill", "suspend", "continue", "files", "check", "mark", "together",
    ]
    /// How iOS ends a process that is suspended with a lock on a file of a group container.
    private static let suspensionCode = "0xdead10cc"

    mutating func steps(_ node: RecipeNode) throws(RecipeError) -> [ScenarioStep] {
        var steps: [ScenarioStep] = []
        for item in try node.list() { steps.append(try step(item)) }
        return steps
    }

    private mutating func step(_ node: RecipeNode) throws(RecipeError) -> ScenarioStep {
        let mapping = try node.mapping()
        let actions = mapping.entries.filter { Self.actions.contains($0.name) || ToolVerbs.names.contains($0.name) }
        guard let entry = actions.first else {
            let known = Self.actions + ToolVerbs.names
            throw mapping.without(known, is: "no step", missing: "a step is missing here", list: "steps are")
        }
        if actions.count > 1 { throw actions[1].key.error("one step does one thing; begin another with '-'") }
        if ToolVerbs.names.contains(entry.name) {
            let call = try verb(entry.name, entry.value, mapping)
            return ScenarioStep(
                action: .verb(call),
                title: call.words.joined(separator: " "),
                position: entry.key.position
            )
        }
        try mapping.allow(entry.name == "suspend" ? ["suspend", "killed"] : [entry.name])
        if entry.name == "suspend" {
            let process = try self.process(entry.value)
            if let code = mapping["killed"], try code.text() != Self.suspensionCode {
                throw code.error("'killed' says how iOS ends it: \(Self.suspensionCode)")
            }
            return ScenarioStep(
                action: .suspend(process: process, isEnded: mapping["killed"] != nil),
                title: "suspend \(process)",
                position: entry.key.position
            )
        }
        let (action, detail) = try action(entry.name, entry.value)
        return ScenarioStep(action: action, title: entry.name + detail, position: entry.key.position)
    }

    private mutating func action(
        _ name: String,
        _ value: RecipeNode
    ) throws(RecipeError) -> (ScenarioStep.Action, String) {
        switch name {
        case "make":
            let mapping = try value.mapping()
            try mapping.allow(["store", "recipe", "file"])
            let store = try self.store(mapping.required("store"))
            guard let source = try source(mapping) else {
                throw value.error("a store is made from a 'recipe' or a 'file'")
            }
            return (.make(store: store, source), " \(store)")
        case "write":
            let write = try self.write(value)
            return (.write(write), " in \(write.store)")
        case "save":
            let save = try self.save(value)
            return (.save(save), " in \(save.store)")
        case "start":
            let start = try self.start(value)
            return (.start(start), " \(start.process)")
        case "stop":
            let process = try self.process(value)
            return (.stop(process: process), " \(process)")
        case "kill":
            let process = try self.process(value)
            return (.kill(process: process), " \(process)")
        case "continue":
            let process = try self.process(value)
            return (.proceed(process: process), " \(process)")
        case "files": return (.files(try files(value)), "")
        case "check": return (.check(try expectations(value)), "")
        case "mark":
            let mark = try value.text()
            try Self.requireName(value, mark)
            marks.insert(mark)
            return (.mark(mark), " \(mark)")
        default:
            let steps = try self.steps(value)
            for (step, item) in zip(steps, try value.list()) {
                guard case .verb(let call) = step.action, call.pauses.isEmpty else {
                    throw item.error("at the same time run verbs of the tool, without trigger points")
                }
            }
            guard steps.count > 1 else { throw value.error("at the same time run two at least") }
            return (.together(steps), "")
        }
    }

    private func write(_ node: RecipeNode) throws(RecipeError) -> StoreWrite {
        let mapping = try node.mapping()
        try mapping.allow(["in", "sql", "by", "refused"])
        return StoreWrite(
            store: try store(mapping.required("in")),
            statements: try Self.texts(mapping.required("sql")),
            process: try mapping["by"].map { node throws(RecipeError) in try process(node) },
            refusal: try refusal(mapping)
        )
    }

    /// Whether a write must be refused, by the key `refused`.
    func refusal(_ mapping: RecipeMapping) throws(RecipeError) -> Refusal? {
        guard let node = mapping["refused"] else { return nil }
        switch try node.text() {
        case "true": return .any
        case "false": return nil
        case let text: return .saying(text)
        }
    }

    private mutating func start(_ node: RecipeNode) throws(RecipeError) -> ProcessStart {
        let mapping = try node.mapping()
        try mapping.allow(["process", "opens", "holds", "repeats", "after"])
        let key = try mapping.required("process")
        let name = try key.text()
        try Self.requireName(key, name)
        guard !stores.contains(name) else { throw key.error("'\(name)' is the name of a store") }
        guard processes.insert(name).inserted else { throw key.error("a process '\(name)' was started before") }
        if let after = mapping["after"], mapping["repeats"] == nil { throw after.error("'after' goes with 'repeats'") }
        var work = ProcessStart.Work.nothing
        switch (mapping["holds"], mapping["repeats"]) {
        case (nil, nil): break
        case (.some, let repeats?): throw repeats.error("a process holds something, or repeats something")
        case (let holds?, nil):
            work = try holds.word(HoldingWord.self) == .reader ? .holdsReader : .holdsWriteLock
        case (nil, let repeats?):
            work = .repeats(sql: try repeats.text(), after: try mapping["after"]?.integer(in: 1...100_000) ?? 1)
        }
        return ProcessStart(process: name, store: try store(mapping.required("opens")), work: work)
    }

    private enum HoldingWord: String, CaseIterable {
        case reader
        case writeLock
    }
}
