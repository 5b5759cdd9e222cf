internal import FoundationEssentials
public import StoreStrategies

/// The protocol between a host and a strategy in another process: one JSON object per line.
///
/// The strategy answers each question with one line; the end of input is the end of the questions. The first question is
/// for the capability. A member that a later version adds is optional. An unknown member is ignored where it sets nothing.
public enum StrategyMessage {
    /// The version of the wire that this package speaks.
    public static let protocolVersion = 1

    /// What the host asks.
    public enum Question: Hashable, Sendable, Codable {
        /// What is your name, and do you speak this version?
        case getCapability(protocolVersion: Int)
        /// Do you apply?
        case evaluate(request: StrategyRequest)
        /// What do you set?
        case describe(request: StrategyRequest)
    }

    /// What the strategy answers.
    public enum Answer: Hashable, Sendable, Codable {
        case capability(protocolVersion: Int, name: String, documentation: StrategyDocumentation)
        case applicability(result: Applicability)
        case changes(changes: DescriptionChanges)
        /// The question has no answer, for this reason.
        case failure(message: String, recoverySuggestion: String?)
    }
}

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

extension StrategyMessage {
    /// An answer in the current or an earlier spelling; no other code knows the earlier names.
    ///
    /// Before version 1 was final, `changes` was `description` and `failure` was `error`.
    struct OldSpellings: Decodable {
        private enum FormerKeys: String, CodingKey {
            case description
            case error
        }

        private struct FormerChanges: Decodable {
            let changes: DescriptionChanges
        }

        private struct FormerFailure: Decodable {
            let message: String
        }

        let answer: Answer

        init(from decoder: any Decoder) throws {
            let former = try decoder.container(keyedBy: FormerKeys.self)
            if former.contains(.description) {
                answer = .changes(changes: try former.decode(FormerChanges.self, forKey: .description).changes)
            } else if former.contains(.error) {
                let failure = try former.decode(FormerFailure.self, forKey: .error)
                answer = .failure(message: failure.message, recoverySuggestion: nil)
            } else {
                answer = try Answer(from: decoder)
            }
        }
    }
}
