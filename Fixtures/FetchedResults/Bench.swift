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

    /// Carries out a line's words; throws ``Misunderstanding`` for words that are not in the help.
    mutating func carryOut(_ words: [String]) throws {
        switch (words.first, words.dropFirst().first) {
        case ("process", let name?):
            guard let named = Laboratory.Arrangement(rawValue: name) else {
                throw Misunderstanding("there is no processing '\(name)'")
            }
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
        let numbers = try words.dropFirst()
            .map { word in
                guard let number = Int(word), 0...10_000 ~= number else {
                    throw Misunderstanding("'\(word)' is not a number up to 10000")
                }
                return number
            }
        switch words.first {
        case "insert":
            let range = next..<(next + (numbers.first ?? 1))
            next = range.upperBound
            try context.performAndWait { try $0.insertDummies(range) { $0 % 2 == 0 } }
        case "update":
            try context.performAndWait { context in
                for dummy in try context.dummies(numbers) { dummy.name = "updated" }
            }
        case "match", "unmatch":
            let isEven = words.first == "match"
            try context.performAndWait { try $0.updateDummies(numbers, isEven: isEven) }
        case "delete":
            try context.performAndWait { context in
                for dummy in try context.dummies(numbers) { try context.delete(dummy) }
            }
        case "save": try context.performAndWait { try $0.save() }
        case "help": print(Self.help)
        default: throw Misunderstanding("there is no command '\(words.joined(separator: " "))'")
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
                    .compactMap { ($0 as? TestDummy)?.id }
                let lists = sets.map { "\($0.0) \(Self.list($0.1))" }.joined(separator: ", ")
                print("  \(name): \(lists); its controller shows \(shown)")
                for event in context.shown?.recorder.events ?? [] { print("    \(event)") }
                context.shown?.recorder.events = []
            }
        }
    }
    /// The IDs of objects; a fault is `-`, because reading its ID would fire it.
    private static func list(_ objects: Set<ManagedObject>) -> String {
        let read = objects.filter { !$0.isFault }.compactMap { ($0 as? TestDummy)?.id }.sorted()
        let faults = Array(repeating: "-", count: objects.count - read.count)
        let all = read.map(String.init) + faults
        return "[" + all.prefix(mostListed).joined(separator: ", ") + (all.count > mostListed ? ", … \(all.count)" : "")
            + "]"
    }

    private static let mostListed = 10
}

/// Words that the bench does not know.
struct Misunderstanding: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = "\(reason); 'help' lists the commands" }
}
