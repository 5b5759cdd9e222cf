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
        name = habit.name
        let running = habit.challenges.first { !$0.isClosed && $0.fromDate <= today && today <= $0.toDate }
        let days = running?.days ?? habit.days
        daysExecuted = days.count { $0.wasExecuted }
        challenge = running.map { challenge in
            let day = Self.days(from: challenge.fromDate, to: today) + 1
            return Challenge(
                day: day,
                daysToFinish: Self.days(from: today, to: challenge.toDate),
                // A day without a record was missed as well.
                daysMissed: day - 1 - days.count { $0.date < today && $0.wasExecuted }
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
