import FoundationEssentials

/// Dates as ISO 8601, to the microsecond where there is less than a second.
enum DateText {
    /// Some ten thousand years: what lies beyond is no date that anybody means.
    private static let range = -250_000_000_000.0...250_000_000_000.0

    /// `2026-07-20T06:58:00Z` or `2026-07-20T06:58:00.25Z`; nil for what no calendar has.
    static func text(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard range.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        let micros = Int64(((seconds - whole) * 1_000_000).rounded())
        // What rounds up to a second is one.
        let base = Date(timeIntervalSinceReferenceDate: whole + Double(micros / 1_000_000))
        let text = base.formatted(.iso8601)
        let rest = micros % 1_000_000
        guard rest > 0, text.hasSuffix("Z") else { return text }
        var digits = String(String(rest + 1_000_000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return text.dropLast() + "." + digits + "Z"
    }
}
