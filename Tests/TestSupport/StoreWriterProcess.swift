import Foundation

/// A test program that works on a store in another process, usually `store-writer`.
package final class StoreWriterProcess {
    private let process: ChildProgram
    private var pending: [UInt8] = []

    /// Starts the program with a connection to the store at `path`, and waits until it is open.
    package init(_ path: String) throws {
        process = try ChildProgram([Checkout.program("store-writer"), path])
        _ = readLine()
    }

    /// Starts the program in its loop.
    package init(_ path: String, loop id: Int) throws {
        process = try ChildProgram([Checkout.program("store-writer"), path, "--loop", "\(id)"])
    }

    /// Starts another program that answers lines, and waits for its first line.
    package init(program: String, _ arguments: [String]) throws {
        process = try ChildProgram([Checkout.program(program)] + arguments)
        _ = readLine()
    }

    /// Executes SQL in the program and returns its answer: `ok`, `value …` or `error …`.
    package func execute(_ sql: String) throws -> String {
        process.say(sql + "\n")
        return readLine() ?? "error gone"
    }

    /// Ends a loop, unless it ended by a final refusal, and returns the lines that it printed.
    ///
    /// The last line says how it ended; it is a number if the program was killed, also because it exceeded `time`.
    package func finish(closingInput: Bool = true, within time: Duration = .seconds(120)) throws -> [String] {
        if closingInput { process.closeInput() }
        let rest = process.rest(within: time)
        _ = process.wait()
        return String(decoding: pending + rest, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The exit status, or the negative signal number, once the program has ended.
    package func waitForExit() -> Int32 {
        process.closeInput()
        return process.wait()
    }

    /// Waits for the first lines of a loop, which show that it works.
    package func waitForLines(_ count: Int) {
        while pending.count(where: { $0 == 0x0A }) < count {
            let chunk = process.available()
            guard !chunk.isEmpty else { return }
            pending += chunk
        }
    }

    /// Sends a line without waiting for the answer.
    package func say(_ line: String) throws {
        process.say(line + "\n")
    }

    /// The program's next line; nil after its exit.
    package func nextLine() -> String? { readLine() }

    /// Stops the program, and returns once it has stopped; or continues it.
    package func suspend(_ isStopped: Bool) {
        if isStopped { _ = process.suspend() } else { process.signal(SIGCONT) }
    }

    package var id: Int32 { process.id }

    /// Kills the program, and waits for its exit.
    package func killNow() { process.kill() }

    private func readLine() -> String? {
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return line
            }
            let chunk = process.available()
            guard !chunk.isEmpty else { return nil }
            pending += chunk
        }
    }
}
