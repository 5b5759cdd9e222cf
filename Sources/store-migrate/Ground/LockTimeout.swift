import ArgumentParser

/// A time to wait, written as a whole number and a unit: `250ms`, `20s` or `2m`.
struct LockTimeout: CustomStringConvertible {
    /// One day; a longer timeout is refused as a mistake.
    private static let limit: Int64 = 86_400_000

    let milliseconds: Int64

    init(seconds: Int64) { milliseconds = seconds * 1000 }

    /// Parses the argument; the error message shows the format.
    init(argument: String) throws {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let scale: Int64
        switch (digits.isEmpty, argument.dropFirst(digits.count)) {
        case (false, "ms"): scale = 1
        case (false, "s"): scale = 1000
        case (false, "m"): scale = 60_000
        default: throw ValidationError("write a whole number and a unit, such as 250ms, 20s or 2m")
        }
        let (product, overflow) = (Int64(digits) ?? .max).multipliedReportingOverflow(by: scale)
        guard !overflow, product <= Self.limit else { throw ValidationError("write no more than 1440m") }
        milliseconds = product
    }

    var duration: Duration { .milliseconds(milliseconds) }

    var description: String { milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms" }
}
