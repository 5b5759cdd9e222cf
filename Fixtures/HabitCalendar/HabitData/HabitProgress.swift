public import Foundation
public import ManagedObjects

/// The progress of a habit, as the app and the widget show it.
public struct HabitProgress: Sendable, Equatable, CustomStringConvertible {
    /// A running challenge: a number of consecutive days.
    public struct Challenge: Sendable, Equatable {
        /// The number of the current day, from 1.
        public let day: Int
        public let daysToFinish: Int
        public let daysMissed: Int
    }

    public let name: String
    public let daysExecuted: Int
    /// Nil for a habit without a running challenge.
    public let challenge: Challenge?

    /// Reads the progress on a day; nil without a habit of that identifier.
    public init?(
        ofHabit id: UUID,
        on today: Date,
        in context: isolated ManagedObjectContext
    ) throws {
        guard let habit = try context.habit(id) else { return nil }
        name = try habit.value(String.self, forKey: "name") ?? ""
        let running = try habit.objects(forKey: "challenges")
            .first { challenge in
                let from = try challenge.value(Date.self, forKey: "fromDate") ?? .distantFuture
                let to = try challenge.value(Date.self, forKey: "toDate") ?? .distantPast
                return try challenge.value(Bool.self, forKey: "isClosed") != true && from <= today && today <= to
            }
        let days = try (running ?? habit).objects(forKey: "days")
        daysExecuted = try days.count { try $0.value(Bool.self, forKey: "wasExecuted") == true }
        challenge = try running.map { challenge in
            let from = try challenge.value(Date.self, forKey: "fromDate") ?? today
            let to = try challenge.value(Date.self, forKey: "toDate") ?? today
            let day = Self.days(from: from, to: today) + 1
            let executedBefore = try days.count { day in
                let date = try day.value(Date.self, forKey: "date") ?? today
                return try date < today && day.value(Bool.self, forKey: "wasExecuted") == true
            }
            return Challenge(
                day: day,
                daysToFinish: Self.days(from: today, to: to),
                // A day without a record was missed as well.
                daysMissed: day - 1 - executedBefore
            )
        }
    }

    /// Whole days in UTC, as in the store.
    private static func days(from start: Date, to end: Date) -> Int {
        Int((end.timeIntervalSince(start) / 86_400).rounded(.down))
    }

    public var description: String {
        guard let challenge else { return "\(name): \(daysExecuted) \(daysExecuted == 1 ? "day" : "days") executed" }
        return "\(name): day \(challenge.day), \(challenge.daysToFinish) days to finish, "
            + "\(challenge.daysMissed) missed, \(daysExecuted) executed"
    }
}
