import FaultSupport
import Foundation

extension Actor {
    /// A command of the tool.
    init(_ name: String, _ command: Command) {
        self.init(name, command.executable, command.arguments, environment: command.environment)
    }
}

extension Run {
    /// The output and endings without the first programs.
    func withoutActors(_ count: Int) -> Run {
        var run = self
        run.outputs.removeFirst(count)
        run.endings.removeFirst(count)
        return run
    }

    /// The outcome that a command of the tool reported as JSON.
    func outcome(of actor: Int) -> String {
        for line in outputs[actor].reversed() {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let outcome = object?["outcome"] as? String { return outcome }
        }
        return outputs[actor].last ?? "no output"
    }
}
