internal import ChildProcesses
internal import Glibc
public import StoreStrategies

/// Serves a strategy to a host in another process; a plugin's `main.swift` is one call of it.
public enum StrategyServer {
    /// Answers the questions on standard input until its end.
    ///
    /// Standard output carries only the wire from then on; what the strategy prints goes to standard error.
    public static func run(_ strategy: some StoreStrategy) {
        let wire = dup(1)
        guard wire != -1, dup2(2, 1) != -1 else { return }
        for line in InputLines() {
            let answer = answer(to: line, from: strategy)
            guard let bytes = try? answer.line(), write(bytes, to: wire) else { return }
        }
    }

    /// The answer to one line; a line that cannot be parsed is answered with a failure.
    package static func answer(to line: [UInt8], from strategy: some StoreStrategy) -> StrategyMessage.Answer {
        do {
            switch try StrategyMessage.Question(line: line) {
            case .getCapability:
                return .capability(
                    protocolVersion: StrategyMessage.protocolVersion,
                    name: strategy.name,
                    documentation: strategy.documentation
                )
            case .evaluate(let request): return .applicability(result: try strategy.evaluate(request))
            case .describe(let request): return .changes(changes: try strategy.describe(request))
            }
        } catch let error as StrategyError {
            return .failure(message: error.message, recoverySuggestion: error.recoverySuggestion)
        } catch {
            return .failure(message: "\(error)", recoverySuggestion: nil)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
