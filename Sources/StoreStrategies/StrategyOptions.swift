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

/// A strategy as it is written: its name, and its options after a colon, as `SharedAccess:mode=0660,group=habits`.
public struct StrategySelection: Hashable, Sendable {
    public var name: String
    public var options: StrategyOptions

    public init(name: String, options: StrategyOptions = StrategyOptions()) {
        self.name = name
        self.options = options
    }

    /// Reads the written form.
    ///
    /// Throws ``StrategyError`` for an option without a value and for one that is given twice.
    public init(_ text: String) throws(StrategyError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts.first ?? "")
        options = StrategyOptions()
        guard !name.isEmpty else { throw StrategyError(.unknownStrategy, "'\(text)' names no strategy") }
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let key = halves.first, !key.isEmpty else {
                throw StrategyError(.invalidOption, "\(name): '\(pair)' is no option; write key=value")
            }
            guard options.values.updateValue(String(halves[1]), forKey: String(key)) == nil else {
                throw StrategyError(.invalidOption, "\(name): the option \(key) is given twice")
            }
        }
    }

    /// The step of a pipeline that this chooses among `strategies`.
    ///
    /// Throws ``StrategyError`` for a name that none of them has, with the name that is probably meant.
    public func step(among strategies: [any StoreStrategy]) throws(StrategyError) -> StrategyPipeline.Step {
        guard let strategy = strategies.first(where: { $0.name == name }) else {
            throw .unknownStrategy(name, among: strategies.map(\.name))
        }
        return StrategyPipeline.Step(strategy, options: options)
    }
}

extension StrategySelection: CustomStringConvertible {
    /// The written form, with the options by name.
    public var description: String {
        let pairs = options.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return pairs.isEmpty ? name : "\(name):\(pairs.joined(separator: ","))"
    }
}
