import Foundation
package import SafeFiles
import Synchronization

extension Scratch {
    /// One of several commands that ran at the same time.
    package struct Racer: Sendable {
        package let ending: Command.Ending
        /// Its output.
        package let output: String
        /// False if it ended before its first call below the root, and so before the others began.
        package let hasStarted: Bool
    }

    /// Runs commands below the root concurrently: each stops at its first call there, and all continue when the last one has
    /// reached its call.
    package func race(_ commands: [Command], deadline: Deadline) throws -> [Racer] {
        let prepared = try commands.enumerated()
            .map { number, command in
                try self.prepared(
                    command,
                    shim: FaultSweep.shim,
                    environment: FaultPoint(number: 0, fault: .stop).environment,
                    report: "report-\(number)"
                )
            }
        // A command that ends too early must not block the others.
        let (start, end) = (DispatchGroup(), DispatchGroup())
        let racers = Mutex([Int: Result<Racer, any Error>]())
        for _ in prepared { start.enter() }
        for (number, command) in prepared.enumerated() {
            end.enter()
            let output = "\(privatePath)/racer-\(number)"
            // One thread each: a pool may have fewer threads than there are racers.
            Thread {
                let result = Result {
                    let hasStarted = Mutex(false)
                    defer { if !hasStarted.withLock(\.self) { start.leave() } }
                    let ending = Command.ending(of: try command.start(output: output), killingAfter: deadline) { _ in
                        hasStarted.withLock { $0 = true }
                        start.leave()
                        start.wait()
                    }
                    return Racer(
                        ending: ending,
                        output: try String(contentsOfFile: output, encoding: .utf8),
                        hasStarted: hasStarted.withLock(\.self)
                    )
                }
                racers.withLock { $0[number] = result }
                end.leave()
            }
            .start()
        }
        end.wait()
        return try racers.withLock { racers in try racers.sorted { $0.key < $1.key }.map { try $0.value.get() } }
    }
}
