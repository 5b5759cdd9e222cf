import Foundation

/// A program of the tests at work on a store, in a process of its own: as a rule `store-writer`.
package final class StoreWriterProcess {
    private let process: ChildProgram
    private var pending: [UInt8] = []

    /// Starts the program with a connection to the store at `path`, and waits until it is open.
    package init(_ path: String) throws {
        process = try ChildProgram([Self.path(of: "store-writer"), path])
        _ = readLine()
    }

    /// Starts the program in its loop.
    package init(_ path: String, loop id: Int) throws {
        process = try ChildProgram([Self.path(of: "store-writer"), path, "--loop", "\(id)"])
    }

    /// Starts another program that answers lines, and waits until it has said its first.
    package init(program: String, _ arguments: [String]) throws {
        process = try ChildProgram([Self.path(of: program)] + arguments)
        _ = readLine()
    }

    /// The built program, beside the test bundle.
    package static func path(of program: String) -> String {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [products, URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()]
        for candidate in candidates {
            let url = candidate.appendingPathComponent(program)
            if FileManager.default.isExecutableFile(atPath: url.path) { return url.path }
        }
        return products.appendingPathComponent(program).path
    }

    /// Executes SQL in the program and returns its answer: `ok`, `value …` or `error …`.
    package func execute(_ sql: String) throws -> String {
        process.say(sql + "\n")
        return readLine() ?? "error gone"
    }

    /// Returns all that a loop printed, line by line, once it is ended: by us, or by being refused for good.
    ///
    /// The last line says which; it is a number if the program was killed, as it is if it goes on for longer than `time`.
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

    /// Waits for the first lines of a loop, so that it is known to be at work.
    package func waitForLines(_ count: Int) {
        while pending.count(where: { $0 == 0x0A }) < count {
            let chunk = process.available()
            guard !chunk.isEmpty else { return }
            pending += chunk
        }
    }

    /// Says a line without waiting for the answer.
    package func say(_ line: String) throws {
        process.say(line + "\n")
    }

    /// The program's next line; nil when it is gone.
    package func nextLine() -> String? { readLine() }

    /// Stops the program where it is, or lets it go on.
    package func suspend(_ isStopped: Bool) { process.signal(isStopped ? SIGSTOP : SIGCONT) }

    /// Ends the program at once, whatever it is doing, and waits until it is gone.
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
