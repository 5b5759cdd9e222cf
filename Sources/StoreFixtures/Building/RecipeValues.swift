import StoreAccess
import StoreFormat
import StoreWriting

/// Converts the values of a recipe for the row writer.
struct RecipeValues {
    let path: String
    let identifiers: SeededIdentifiers

    /// Returns the value of an attribute in the `n`th repetition, counted from 1.
    ///
    /// `owner` names the object for generated identifiers (`auto`).
    func attribute(
        _ value: RecipeValue,
        _ attribute: AttributeDescription,
        repetition n: Int64,
        owner: String
    ) throws(RecipeError) -> SQLValue {
        switch value.form {
        case .null: return .null
        case .text(let text): return try scalar(expand(text, n), attribute, owner, value.position)
        case .cycle(let values, let every):
            let index = Int((n - 1) / every % Int64(values.count))
            return try self.attribute(values[index], attribute, repetition: n, owner: owner)
        case .series(let start, let step, let every):
            return try series(start, step, (n - 1) / every, attribute, value.position)
        case .bytes(let count, let fill):
            guard attribute.type == .binaryData || attribute.type == .transformable else {
                throw error(value.position, "'bytes' fits only attributes of the types binaryData and transformable")
            }
            return .blob(Self.bytes(count, filledWith: expand(fill, n)))
        case .list: throw error(value.position, "a list fits only a relationship")
        }
    }

    /// Returns the names of the destinations of a relationship in the `n`th repetition.
    func destinations(_ value: RecipeValue, repetition n: Int64) throws(RecipeError) -> [String] {
        switch value.form {
        case .null: return []
        case .text(let text): return [expand(text, n)]
        case .cycle(let values, let every):
            return try destinations(values[Int((n - 1) / every % Int64(values.count))], repetition: n)
        case .list(let values):
            var names: [String] = []
            for value in values { names += try destinations(value, repetition: n) }
            return names
        case .series, .bytes: throw error(value.position, "a relationship takes the names of objects")
        }
    }

    func expand(_ text: String, _ n: Int64) -> String {
        text.replacing("{n}", with: String(n))
    }

    func error(_ position: RecipePosition, _ message: String) -> RecipeError {
        RecipeError(path: path, position: position, message)
    }

    private func scalar(
        _ text: String,
        _ attribute: AttributeDescription,
        _ owner: String,
        _ position: RecipePosition
    ) throws(RecipeError) -> SQLValue {
        switch attribute.type {
        case .string, .uri: return .text(text)
        case .binaryData, .transformable: return .blob(Array(text.utf8))
        case .integer16, .integer32, .integer64:
            if let number = Int64(text) { return .integer(number) }
        case .double, .float:
            if let number = Double(text) { return .real(number) }
        case .decimal:
            if text == "NaN" { return .text(text) }
            if let number = Int64(text) { return .integer(number) }
            if let number = Double(text) { return .real(number) }
        case .boolean:
            if text == "true" || text == "yes" { return .integer(1) }
            if text == "false" || text == "no" { return .integer(0) }
        case .date:
            if let seconds = RecipeDate.seconds(text) { return .real(seconds) }
        case .uuid:
            if text == "auto" { return .blob(identifiers.identifier(named: "\(owner).\(attribute.name)")) }
            if let bytes = Self.uuid(text) { return .blob(bytes) }
        case .undefined, .objectID, .composite: break
        }
        throw error(position, "the value does not fit the type of '\(attribute.name)'")
    }

    private func series(
        _ start: String,
        _ step: String,
        _ index: Int64,
        _ attribute: AttributeDescription,
        _ position: RecipePosition
    ) throws(RecipeError) -> SQLValue {
        switch attribute.type {
        case .date:
            guard let first = RecipeDate.seconds(start), let span = RecipeDate.span(step) else {
                throw error(position, "a series of dates has a date as 'start' and a span such as 1d or 90m as 'step'")
            }
            return .real(first + span * Double(index))
        case .integer16, .integer32, .integer64:
            guard let first = Int64(start), let distance = Int64(step) else { break }
            let (product, overflow) = distance.multipliedReportingOverflow(by: index)
            let (sum, overflowing) = first.addingReportingOverflow(product)
            guard !overflow, !overflowing else { throw error(position, "the series leaves the range of 64 bits") }
            return .integer(sum)
        case .double, .float, .decimal:
            guard let first = Double(start), let distance = Double(step) else { break }
            return .real(first + distance * Double(index))
        default: break
        }
        throw error(position, "a series fits only numbers and dates")
    }

    static func bytes(_ count: Int, filledWith fill: String) -> [UInt8] {
        let pattern = fill.isEmpty ? [0] : Array(fill.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + pattern.count)
        while bytes.count < count { bytes += pattern }
        return Array(bytes.prefix(count))
    }

    private static func uuid(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = Array(parts.joined().utf8)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
