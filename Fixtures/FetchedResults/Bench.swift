import ManagedObjects

/// The contexts as a person works with them, one command a line.
struct Bench {
    static let help = """
        insert N · update ID… · match ID… · unmatch ID… · delete ID… · save     (before any: `main`, else in background)
        process \(Laboratory.Arrangement.allCases.map(\.rawValue).joined(separator: "|"))   (a new store)
        predicate on|off · behaviour plain|complete · show · help · quit
        """

    private var laboratory: Laboratory
    private var arrangement = Laboratory.Arrangement.merge
    private var onlyEven = true
    private var behaviour = FetchedResultsController.Behaviour.registeredOnly
    private var next = 0

    init() throws {
        laboratory = try Laboratory(arrangement)
        try showControllers()
    }

    private func showControllers() throws {
        for context in [laboratory.main, laboratory.background] {
            try laboratory.show(in: context, onlyEven: onlyEven, behaviour)
        }
    }

    mutating func carryOut(_ words: [String]) throws {
        switch (words.first, words.dropFirst().first) {
        case ("process", let name?):
            guard let named = Laboratory.Arrangement(rawValue: name) else { return print(Self.help) }
            arrangement = named
            (laboratory, next) = (try Laboratory(arrangement), 0)
            try showControllers()
        case ("predicate", let state?):
            onlyEven = state == "on"
            try showControllers()
        case ("behaviour", let name?):
            behaviour = name == "complete" ? .complete : .registeredOnly
            try showControllers()
        case ("show", _), (nil, _): break
        case ("main", _): try change(laboratory.main, Array(words.dropFirst()))
        case ("background", _): try change(laboratory.background, Array(words.dropFirst()))
        default: try change(laboratory.background, words)
        }
    }

    private mutating func change(_ context: ManagedObjectContext, _ words: [String]) throws {
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch words.first {
        case "insert":
            let range = next..<(next + max(0, min(numbers.first ?? 1, 10_000)))
            next = range.upperBound
            try context.performAndWait { try $0.insertDummies(range) { $0 % 2 == 0 } }
        case "update":
            try context.performAndWait { context in
                for dummy in try context.dummies(numbers) { try dummy.setValue("updated", forKey: "name") }
            }
        case "match", "unmatch":
            let isEven = words.first == "match"
            try context.performAndWait { try $0.updateDummies(numbers, isEven: isEven) }
        case "delete":
            try context.performAndWait { context in
                for dummy in try context.dummies(numbers) { try context.delete(dummy) }
            }
        case "save": try context.performAndWait { try $0.save() }
        default: print(Self.help)
        }
    }

    /// Prints both contexts' sets, and the events of their controllers since the last time.
    func show() {
        for (name, context) in [("main", laboratory.main), ("background", laboratory.background)] {
            context.performAndWait { context in
                try? context.processPendingChanges()
                let sets = [
                    ("registered", context.registeredObjects), ("inserted", context.insertedObjects),
                    ("updated", context.updatedObjects), ("deleted", context.deletedObjects),
                ]
                let shown = (context.shown?.controller.fetchedObjects ?? [])
                    .compactMap {
                        try? $0.value(Int64.self, forKey: "id")
                    }
                let counts = sets.map { "\($0.0) \($0.1.count)" }.joined(separator: ", ")
                print("  \(name): \(counts); its controller shows \(shown)")
                for event in context.shown?.recorder.events ?? [] { print("    \(event)") }
                context.shown?.recorder.events = []
            }
        }
    }
}
