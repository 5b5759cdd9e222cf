internal import FoundationEssentials

extension StrategyMessage.Question {
    /// The question as a line, its end included.
    package func line() throws -> [UInt8] { try StrategyMessage.line(self) }

    /// Reads a line without its end.
    package init(line: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(line)) }
}

extension StrategyMessage.Answer {
    /// The answer as a line, its end included.
    package func line() throws -> [UInt8] { try StrategyMessage.line(self) }

    /// Reads a line without its end; old spellings are understood.
    package init(line: [UInt8]) throws {
        self = try JSONDecoder().decode(StrategyMessage.OldSpellings.self, from: Data(line)).answer
    }
}

extension StrategyMessage {
    fileprivate static func line(_ message: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        // The order is fixed so that recorded conversations can be compared.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try [UInt8](encoder.encode(message)) + [0x0A]
    }
}
