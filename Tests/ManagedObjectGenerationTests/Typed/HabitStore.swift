import FoundationEssentials
public import ManagedObjects
import StoreFormat
import StoreStrategies
import TestSupport

/// The colours of the model `Habits`.
public enum Colour: String {
    case red
    case green
}

/// The moods of the model `Habits`.
public enum Mood: Int16, MandatoryEnumeration {
    case unknown
    case good
    case bad

    public static var absentValue: Mood { .unknown }
}

/// A store of the model `Habits`.
struct HabitStore {
    let container: PersistentContainer
    private let scratch: ScratchFolder

    static let modelPath = Checkout.path + "/Tests/ManagedObjectGenerationTests/Habits.xcdatamodel"

    init() throws {
        scratch = try ScratchFolder()
        container = try Self.open(scratch)
    }

    /// The store in another container, in which no class is registered yet.
    func reopened() throws -> PersistentContainer { try Self.open(scratch) }

    private static func open(_ scratch: ScratchFolder) throws -> PersistentContainer {
        let container = PersistentContainer(
            name: "Habits",
            managedObjectModel: try ModelFile(path: modelPath).model,
            descriptions: [PersistentStoreDescription(url: URL(filePath: scratch.path + "/Habits.sqlite"))],
            viewContextOn: .privateQueue
        )
        try container.loadPersistentStoresAndWait()
        return container
    }

    /// Changes the store's rows, as a program without the model might.
    func execute(_ statement: String) throws {
        let run = try ChildProgram.run(["sqlite3", scratch.path + "/Habits.sqlite", statement])
        guard run.status == 0 else { throw ManagedObjectError(.objectIsGone, run.output) }
    }

    /// Removes the files of large values, as another program might.
    func removeExternalFiles() throws {
        try FileManager.default.removeItem(atPath: scratch.path + "/.Habits_SUPPORT/_EXTERNAL_DATA")
    }

    /// Three habits; `Read` is closed and has two days, the first of them executed.
    func fill() throws {
        try container.viewContext.performAndWait { context in
            for (index, name) in ["Walk", "Read", "Swim"].enumerated() {
                let habit = try context.insertNewObject(Habit.self)
                habit.name = name
                habit.id = UUID()
                habit.createdAt = Date(timeIntervalSinceReferenceDate: Double(index))
                habit.isClosed = name == "Read"
                habit.rank = Int16(index)
                habit.colour = name == "Swim" ? nil : .green
            }
            let read = try context.habit("Read")
            for number in 0..<2 {
                let day = try context.insertNewObject(HabitDay.self)
                day.date = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
                day.wasExecuted = number == 0
                day.habit = read
            }
            read.leader = try context.habit("Walk")
            read.steps = try ["Open", "Turn", "Close"]
                .map { title in
                    let step = try context.insertNewObject(Step.self)
                    step.title = title
                    return step
                }
            try context.save()
        }
    }
}

extension ManagedObjectContext {
    /// The habit of a name.
    func habit(_ name: String) throws -> Habit {
        guard let habit = try fetch(FetchRequest<Habit>(predicate: \.name == name)).first else {
            throw ManagedObjectError(.objectIsGone, "there is no habit \(name)")
        }
        return habit
    }
}
