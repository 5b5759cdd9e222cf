public import Foundation
public import ManagedObjects

/// What the app and its widget change.
extension ManagedObjectContext {
    /// The habit with an identifier.
    public func habit(_ id: UUID) throws -> Habit? {
        try fetch(FetchRequest(predicate: \Habit.id == id)).first
    }

    /// Names a habit, which is inserted if there is none.
    public func nameHabit(_ id: UUID, _ name: String, on day: Date) throws {
        let habit = try habit(id) ?? insertNewObject(Habit.self)
        if habit.isInserted {
            habit.id = id
            habit.createdAt = day
        }
        habit.name = name
    }

    /// Records that a habit was executed on a day, in the running challenge.
    public func recordDay(_ date: Date, ofHabit id: UUID) throws {
        guard let habit = try habit(id) else { return }
        let running = FetchRequest<DaysChallenge>(
            predicate: \.habit == habit && \.isClosed == false && \.fromDate <= date && \.toDate >= date
        )
        let recorded = FetchRequest<HabitDay>(predicate: \.habit == habit && \.date == date)
        let day = try fetch(recorded).first ?? insertNewObject(HabitDay.self)
        day.date = date
        day.wasExecuted = true
        day.habit = habit
        day.challenge = try fetch(running).first
    }
}

extension Date {
    /// A day as text, such as 2026-11-21; nil for other text.
    public init?(day: String) {
        guard let date = try? Date("\(day)T00:00:00Z", strategy: .iso8601) else { return nil }
        self = date
    }

    /// The day as text, in UTC as in the store.
    public var day: String { formatted(.iso8601.year().month().day()) }
}
