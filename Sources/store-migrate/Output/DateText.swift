import FoundationEssentials

/// Dates as ISO 8601, with microseconds if they are not whole seconds.
enum DateText {
    /// About 7,900 years before and after 2001; a value outside is not formatted as a date.
    private static let range = -250_000_000_000.0...250_000_000_000.0

    /// `2026-07-20T06:58:00Z` or `2026-07-20T06:58:00.25Z`; nil outside the supported range.
    static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard range.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        let micros = Int64(((seconds - whole) * 1_000_000).rounded())
        // A fraction may round up to a whole second.
        let base = Date(timeIntervalSinceReferenceDate: whole + Double(micros / 1_000_000))
        let text = base.formatted(.iso8601)
        let rest = micros % 1_000_000
        guard rest > 0, text.hasSuffix("Z") else { return text }
        var digits = String(String(rest + 1_000_000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return text.dropLast() + "." + digits + "Z"
    }
}
