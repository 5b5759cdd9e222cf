internal import StoreStrategies

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
