/// Which of many backups are kept: the last ones, and the last of each of so many days, weeks and months.
///
/// Days and weeks begin at midnight UTC, weeks on Mondays. A period without a backup does not count.
public struct RetentionPolicy: Hashable, Sendable {
    public var last: Int
    public var daily: Int
    public var weekly: Int
    public var monthly: Int

    public init(last: Int = 0, daily: Int = 0, weekly: Int = 0, monthly: Int = 0) {
        self.last = last
        self.daily = daily
        self.weekly = weekly
        self.monthly = monthly
    }

    /// True for a policy that would keep nothing.
    public var isEmpty: Bool { last <= 0 && daily <= 0 && weekly <= 0 && monthly <= 0 }

    /// The places, in `times`, of the backups to be kept; times are seconds since 1970.
    ///
    /// Of two backups of one second the later in the list is the newer.
    public func kept(of times: [Int64]) -> Set<Int> {
        let newestFirst = times.indices.sorted { (times[$0], $0) > (times[$1], $1) }
        var kept = Set(newestFirst.prefix(max(0, last)))
        for (count, period) in [(daily, Self.day), (weekly, Self.week), (monthly, Self.month)] {
            var seen: Set<Int64> = []
            for index in newestFirst where seen.count < count {
                if seen.insert(period(times[index])).inserted { kept.insert(index) }
            }
        }
        return kept
    }

    private static func day(_ time: Int64) -> Int64 { floor(time, 86_400) }

    /// The first of January 1970 was a Thursday.
    private static func week(_ time: Int64) -> Int64 { floor(day(time) + 3, 7) }

    /// Months counted from March of the year 0, which makes the leap day the last of its year.
    private static func month(_ time: Int64) -> Int64 {
        let days = day(time) + 719_468
        let era = floor(days, 146_097)
        let dayOfEra = days - era * 146_097
        let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        return (era * 400 + year) * 12 + (5 * dayOfYear + 2) / 153
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }
}
