import StoreAccess
import StoreFixtures
import StoreMigration

extension ScenarioReader {
    private static let beside = [
        "ends", "meanwhile", "killed", "interrupted", "fails", "as", "environment", "deadline",
    ]

    mutating func verb(
        _ name: String,
        _ value: RecipeNode,
        _ mapping: RecipeMapping
    ) throws(RecipeError) -> VerbCall {
        try mapping.allow([name] + Self.beside)
        var words = [name]
        for node in try value.list() {
            let word = try node.text()
            try requireKnownPlaceholders(word, node)
            try Self.requireInside(word, node)
            words.append(word)
        }
        var call = VerbCall(words: words)
        if let user = mapping["as"] {
            guard try user.text() == "nobody" else { throw user.error("the other user is called 'nobody'") }
            call.runsAsNobody = true
        }
        for entry in try mapping["environment"]?.mapping().entries ?? [] {
            let text = try entry.value.text()
            try requireKnownPlaceholders(text, entry.value)
            try Self.requireInside(text, entry.value)
            call.environment.append((entry.name, text))
        }
        call.deadline = try mapping["deadline"].map { node throws(RecipeError) in try Self.duration(node) }
        for item in try mapping["meanwhile"]?.list() ?? [] {
            let pause = try item.mapping()
            try pause.allow(["at", "steps"])
            let at = try pause.required("at")
            let moment = try at.word(TriggerPoint.self)
            guard !call.pauses.contains(where: { $0.moment == moment }) else {
                throw at.error("the trigger point '\(moment.rawValue)' is there twice")
            }
            let steps = try self.steps(pause.required("steps"))
            call.pauses.append(VerbCall.Pause(moment: moment, steps: steps, position: at.position))
        }
        if let node = mapping["interrupted"] {
            let at = try node.mapping()
            try at.allow(["at"])
            call.interruption = try at.required("at").word(TriggerPoint.self)
        }
        for node in try mapping["fails"].map(Self.items) ?? [] { call.faults.append(try fault(node)) }
        if let killed = mapping["killed"] {
            if let ends = mapping["ends"] { throw ends.error("a run that is killed ends in no other way") }
            call.death = try death(killed)
        }
        if let ends = mapping["ends"] { call.ending = try ending(ends) }
        return call
    }

    /// Refuses paths that lead out of the scratch folder: the tool runs as the person who rehearses, on real files.
    private static func requireInside(_ word: String, _ node: RecipeNode) throws(RecipeError) {
        for part in word.split(whereSeparator: { "=:,".contains($0) })
        where part.hasPrefix("/") || part.split(separator: "/").contains("..") {
            throw node.error("'\(part)' is not a path within the scratch folder")
        }
    }

    /// One mapping, or a list of them.
    private static func items(_ node: RecipeNode) throws(RecipeError) -> [RecipeNode] {
        node.isList ? try node.list() : [node]
    }

    /// Throws for a `{NAME}` that is neither a store nor the scratch folder.
    private func requireKnownPlaceholders(_ text: String, _ node: RecipeNode) throws(RecipeError) {
        for name in Placeholders.names(in: text) where !stores.contains(name) && name != "place" {
            throw node.error("no store is called '\(name)'; there are \(stores.sorted().joined(separator: ", "))")
        }
    }

    private func death(_ node: RecipeNode) throws(RecipeError) -> VerbCall.Death {
        let mapping = try node.mapping()
        try mapping.allow(["at", "call", "nth"])
        switch (mapping["at"], mapping["call"]) {
        case (let at?, nil): return .at(try at.word(TriggerPoint.self))
        case (nil, let call?):
            return .before(
                call: try Self.call(call),
                nth: try mapping["nth"]?.integer(in: 1...65_535) ?? 1
            )
        default: throw node.error("a run is killed 'at' a trigger point, or before a 'call' of the kernel")
        }
    }

    private func fault(_ node: RecipeNode) throws(RecipeError) -> VerbCall.Fault {
        let mapping = try node.mapping()
        try mapping.allow(["call", "nth", "with"])
        let with = try mapping.required("with")
        let error = try with.text()
        guard error.hasPrefix("E"), error.utf8.count > 2, error.utf8.allSatisfy({ Self.isCapital($0) }) else {
            throw with.error("the name of an error such as EIO or ENOSPC is expected here")
        }
        var when: String? = "1"
        if let nth = mapping["nth"] {
            let text = try nth.text()
            let digits = text.hasSuffix("+") ? String(text.dropLast()) : text
            guard text == "all" || Int(digits).map({ (1...65_535).contains($0) }) == true else {
                throw nth.error("a number such as 2, a number and all after it such as 2+, or 'all' is expected here")
            }
            when = text == "all" ? nil : text
        }
        return VerbCall.Fault(call: try Self.call(mapping.required("call")), when: when, error: error)
    }

    private static func isCapital(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The name of a system call, checked strictly because it becomes an argument of strace.
    private static func call(_ node: RecipeNode) throws(RecipeError) -> String {
        let name = try node.text()
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        guard isName, !name.isEmpty else {
            throw node.error("the name of a system call such as fsync is expected here")
        }
        return name
    }

    private func ending(_ node: RecipeNode) throws(RecipeError) -> RequiredEnding {
        let mapping = try node.mapping()
        try mapping.allow(["status", "outcome", "finds", "findsNot", "says", "summary"])
        guard !mapping.entries.isEmpty else { throw node.error("how the run must end is missing here") }
        var ending = RequiredEnding()
        ending.position = node.position
        if let outcome = mapping["outcome"] {
            var outcomes: [MigrationOutcome] = []
            for item in outcome.isList ? try outcome.list() : [outcome] {
                outcomes.append(try item.word(MigrationOutcome.self))
            }
            ending.outcomes = outcomes
            ending.statuses = nil
        }
        if let status = mapping["status"] {
            var statuses: [Int32] = []
            for item in status.isList ? try status.list() : [status] {
                statuses.append(Int32(try item.integer(in: 0...255)))
            }
            ending.statuses = statuses
        }
        ending.findings = try mapping["finds"].map { node throws(RecipeError) in try Self.texts(node) } ?? []
        if let unwanted = mapping["findsNot"] {
            let codes = try Self.texts(unwanted)
            ending.unwanted = codes == ["all"] ? .all : .codes(codes)
        }
        ending.texts = try mapping["says"].map { node throws(RecipeError) in try Self.texts(node) } ?? []
        for entry in try mapping["summary"]?.mapping().entries ?? [] {
            ending.members.append((entry.name, entry.value.isNull ? "null" : try entry.value.text()))
        }
        return ending
    }
}
