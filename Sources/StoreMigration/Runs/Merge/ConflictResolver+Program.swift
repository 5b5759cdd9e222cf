public import ChangeMerging
public import StrategyProcess

extension ConflictResolver {
    /// The most conflicts in one conversation.
    private static let mostQuestions = 1000
    /// The most bytes of questions in one conversation: the answers, which may spell a value longer, fit into what a program
    /// may print.
    private static let mostBytes = 128 << 10

    /// Lets a program decide, in another process and in the sandbox of plugins.
    ///
    /// The program reads one JSON object a line from standard input and answers each with one line. With many conflicts it
    /// is started several times.
    public init(_ program: DecisionProgram) {
        self.init(all: { conflicts in
            var resolutions: [StoreMergeConflict.Resolution] = []
            var part: [[UInt8]] = []
            var bytes = 0
            for (index, conflict) in conflicts.enumerated() {
                part.append(try ConflictMessage.question(part.count + 1, conflict))
                bytes += part.last?.count ?? 0
                guard part.count == Self.mostQuestions || bytes >= Self.mostBytes || index == conflicts.count - 1 else {
                    continue
                }
                resolutions += try await Self.resolutions(to: part, by: program)
                (part, bytes) = ([], 0)
            }
            return resolutions
        })
    }

    private static func resolutions(
        to questions: [[UInt8]],
        by program: DecisionProgram
    ) async throws -> [StoreMergeConflict.Resolution] {
        let answers = try await program.answers(to: questions, reading: ConflictMessage.Answer.init(line:))
        return try answers.enumerated()
            .map { index, answer in
                switch answer {
                case .failure(let message, let suggestion):
                    throw program.failure(message, recoverySuggestion: suggestion)
                case .resolution(index + 1, let resolution): return resolution
                case .resolution(let number, _):
                    throw program.refusal("it answered conflict \(number) where \(index + 1) was asked")
                }
            }
    }
}
