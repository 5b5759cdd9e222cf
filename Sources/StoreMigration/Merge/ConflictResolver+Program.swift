public import ChangeMerging
public import StrategyProcess

extension ConflictResolver {
    /// The most conflicts in one conversation: the answers fit into what a program may print.
    private static let mostQuestions = 1000

    /// Lets a program decide, in another process and in the sandbox of plugins.
    ///
    /// The program reads one JSON object a line from standard input and answers each with one line. It is started once for at
    /// most 1,000 conflicts.
    public init(_ program: DecisionProgram) {
        self.init(all: { conflicts in
            var resolutions: [StoreMergeConflict.Resolution] = []
            while resolutions.count < conflicts.count {
                let part = conflicts[resolutions.count...].prefix(Self.mostQuestions)
                resolutions += try await Self.resolutions(of: Array(part), by: program)
            }
            return resolutions
        })
    }

    private static func resolutions(
        of conflicts: [StoreMergeConflict],
        by program: DecisionProgram
    ) async throws -> [StoreMergeConflict.Resolution] {
        let questions = try conflicts.enumerated().map { try ConflictMessage.question($0.offset + 1, $0.element) }
        let answers = try await program.answers(to: questions, reading: ConflictMessage.Answer.init(line:))
        return try answers.enumerated()
            .map { index, answer in
                switch answer {
                case .failure(let message, let suggestion):
                    throw program.failure(message, recoverySuggestion: suggestion)
                case .resolution(index + 1, let take, let value):
                    switch take {
                    case .old: return .old
                    case .shared: return .shared
                    case .value: return .value(value?.value ?? .null)
                    }
                case .resolution(let number, _, _):
                    throw program.refusal("it answered conflict \(number) where \(index + 1) was asked")
                }
            }
    }
}
