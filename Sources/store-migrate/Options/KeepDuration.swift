import ArgumentParser
import FoundationEssentials

/// A retention time, written as a whole number and a unit: `12h`, `7d` or `4w`.
struct KeepDuration {
    /// A hundred years.
    private static let limit: Int64 = 36_525 * 86_400

    let seconds: Int64

    /// Parses the argument; the error message shows the format.
    init(argument: String) throws {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let scale: Int64
        switch (digits.isEmpty, argument.dropFirst(digits.count)) {
        case (false, "h"): scale = 3600
        case (false, "d"): scale = 86_400
        case (false, "w"): scale = 604_800
        default: throw ValidationError("write a whole number and a unit, such as 12h, 7d or 4w")
        }
        let (product, overflow) = (Int64(digits) ?? .max).multipliedReportingOverflow(by: scale)
        guard !overflow, product <= Self.limit else { throw ValidationError("write no more than 36525d") }
        seconds = product
    }

    /// The date before which nothing is kept.
    var cutoff: Date { Date(timeIntervalSinceNow: -Double(seconds)) }
}
