import ArgumentParser
import FoundationEssentials
import ManagedObjects

/// Which transactions of a history to show.
struct HistoryOptions: ParsableArguments {
    @Option(
        name: .customLong("author"),
        help: ArgumentHelp("Only transactions of an author, '' for none; may be repeated.", valueName: "name")
    )
    var authors: [String] = []

    @Option(
        help: ArgumentHelp("Only transactions after this number, as in a history token.", valueName: "number"),
        transform: Self.after
    )
    var after: Int64?

    @Option(help: ArgumentHelp("How many at most, from the earliest.", valueName: "count"), transform: Self.limit)
    var limit: Int?

    /// The authors as history names them: nil for transactions without one.
    var names: [String?] { authors.map { $0.isEmpty ? nil : $0 } }

    var request: HistoryRequest {
        var request = HistoryRequest()
        if !authors.isEmpty { request.authors = .only(Set(names)) }
        request.after = after ?? 0
        request.limit = limit ?? 0
        return request
    }

    private static func after(_ text: String) throws -> Int64 {
        guard let number = Int64(text), number >= 0 else { throw ValidationError("write a number from 0 on") }
        return number
    }

    private static func limit(_ text: String) throws -> Int {
        guard let limit = Int(text), limit > 0 else { throw ValidationError("write a number from 1 on") }
        return limit
    }
}

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
