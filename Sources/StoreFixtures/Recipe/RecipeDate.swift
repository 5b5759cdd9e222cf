/// Dates and spans of time as recipes write them.
package enum RecipeDate {
    /// Seconds since 2001-01-01T00:00:00Z for `2026-01-31` or `2026-01-31T08:00:00.25Z`; nil for anything else.
    package static func seconds(_ text: String) -> Double? {
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, date[0].utf8.count == 4, date[1].utf8.count == 2, date[2].utf8.count == 2,
            let year = number(date[0]), let month = number(date[1]), let day = number(date[2]),
            (1...12).contains(month), (1...length(of: month, in: year)).contains(day)
        else { return nil }
        let days = Double(daysSince2001(year, month, day))
        guard parts.count == 2 else { return days * 86_400 }
        guard let time = timeOfDay(parts[1]) else { return nil }
        return days * 86_400 + time
    }

    /// Seconds for `90s`, `15m`, `2h` or `1d`; nil for anything else.
    static func span(_ text: String) -> Double? {
        guard let unit = text.last, let count = Double(text.dropLast()), count.isFinite else { return nil }
        switch unit {
        case "s": return count
        case "m": return count * 60
        case "h": return count * 3600
        case "d": return count * 86_400
        default: return nil
        }
    }

    private static func timeOfDay(_ text: Substring) -> Double? {
        guard text.last == "Z" else { return nil }
        let parts = text.dropLast().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].utf8.count == 2, parts[1].utf8.count == 2, let hour = number(parts[0]),
            let minute = number(parts[1]), let second = Double(parts[2]), (0...23).contains(hour),
            (0...59).contains(minute), (0..<60).contains(second)
        else { return nil }
        return Double(hour * 3600 + minute * 60) + second
    }

    private static func number(_ digits: Substring) -> Int? {
        digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(digits) : nil
    }

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The proleptic Gregorian calendar, counted in eras of 400 years that begin in March.
    private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        // 730,791 days lie between 0000-03-01 and 2001-01-01.
        return era * 146_097 + dayOfEra - 730_791
    }
}
