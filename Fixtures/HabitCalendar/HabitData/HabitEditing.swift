public import Foundation
public import ManagedObjects

/// What the app and its widget change.
extension ManagedObjectContext {
    /// The habit with an identifier.
    public func habit(_ id: UUID) throws -> ManagedObject? {
        try fetch(FetchRequest(entityName: "Habit", predicate: FetchPredicate(format: "id == %@", id))).first
    }

    /// Names a habit, which is inserted if there is none.
    public func nameHabit(_ id: UUID, _ name: String, on day: Date) throws {
        let habit = try habit(id) ?? insertNewObject(forEntityName: "Habit")
        if habit.isInserted {
            try habit.setValue(id, forKey: "id")
            try habit.setValue(day, forKey: "createdAt")
        }
        try habit.setValue(name, forKey: "name")
    }

    /// Records that a habit was executed on a day, in the running challenge.
    public func recordDay(_ date: Date, ofHabit id: UUID) throws {
        guard let habit = try habit(id) else { return }
        let challenges = try FetchPredicate(
            format: "habit == %@ AND isClosed == NO AND fromDate <= %@ AND toDate >= %@",
            habit.objectID,
            date,
            date
        )
        let days = try FetchPredicate(format: "habit == %@ AND date == %@", habit.objectID, date)
        let day =
            try fetch(FetchRequest(entityName: "HabitDay", predicate: days)).first
            ?? insertNewObject(forEntityName: "HabitDay")
        try day.setValue(date, forKey: "date")
        try day.setValue(true, forKey: "wasExecuted")
        try day.setObject(habit, forKey: "habit")
        try day.setObject(
            fetch(FetchRequest(entityName: "DaysChallenge", predicate: challenges)).first,
            forKey: "challenge"
        )
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
