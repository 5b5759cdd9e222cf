/// The options that a user gave to one strategy, by name.
public struct StrategyOptions: Hashable, Sendable {
    public var values: [String: String]

    public init(_ values: [String: String] = [:]) { self.values = values }

    public subscript(name: String) -> String? { values[name] }

    /// The value of an option that is true or false.
    ///
    /// Throws ``StrategyError`` for anything else.
    public func flag(_ name: String, of strategy: String, default fallback: Bool) throws(StrategyError) -> Bool {
        switch values[name] {
        case nil: return fallback
        case "true"?: return true
        case "false"?: return false
        case let value?: throw .invalidOption(name, value, of: strategy, expected: "true or false")
        }
    }

    /// The value of an option that takes one of a few words; nil when it is not given.
    ///
    /// Throws ``StrategyError`` for any other word.
    public func word(_ name: String, of strategy: String, among words: [String]) throws(StrategyError) -> String? {
        guard let value = values[name] else { return nil }
        guard words.contains(value) else {
            throw .invalidOption(name, value, of: strategy, expected: words.joined(separator: ", "))
        }
        return value
    }
}

extension StrategyOptions: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(elements) { _, last in last })
    }
}

extension StrategyOptions: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: String].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}
