import Foundation

/// A program of the tests at work on a store, in a process of its own: as a rule `store-writer`.
package final class StoreWriterProcess {
    private let program: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending: [UInt8] = []

    /// Starts the program with a connection to the store at `path`, and waits until it is open.
    package init(_ path: String) throws {
        program = "store-writer"
        try start([path])
        _ = readLine()
    }

    /// Starts the program in its loop.
    package init(_ path: String, loop id: Int) throws {
        program = "store-writer"
        try start([path, "--loop", "\(id)"])
    }

    /// Starts another program that answers lines, and waits until it has said its first.
    package init(program: String, _ arguments: [String]) throws {
        self.program = program
        try start(arguments)
        _ = readLine()
    }

    /// The built program, beside the test bundle.
    private var executable: URL {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let candidates = [products, URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()]
        for candidate in candidates {
            let url = candidate.appendingPathComponent(program)
            if FileManager.default.isExecutableFile(atPath: url.path) { return url }
        }
        return products.appendingPathComponent(program)
    }

    private func start(_ arguments: [String]) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Executes SQL in the program and returns its answer: `ok`, `value …` or `error …`.
    package func execute(_ sql: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((sql + "\n").utf8))
        return readLine() ?? "error gone"
    }

    /// Returns all that a loop printed, line by line, once it is ended: by us, or by being refused for good.
    package func finish(closingInput: Bool = true) throws -> [String] {
        if closingInput { try input.fileHandleForWriting.close() }
        let rest = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: pending + rest, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The exit status, or the negative signal number, once the program has ended.
    package func waitForExit() -> Int32 {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }

    /// Waits for the first lines of a loop, so that it is known to be at work.
    package func waitForLines(_ count: Int) {
        while pending.count(where: { $0 == 0x0A }) < count {
            let chunk = output.fileHandleForReading.availableData
            guard !chunk.isEmpty else { return }
            pending += chunk
        }
    }

    /// Says a line without waiting for the answer.
    package func say(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The program's next line; nil when it is gone.
    package func nextLine() -> String? { readLine() }

    /// Stops the program where it is, or lets it go on.
    package func suspend(_ isStopped: Bool) { kill(process.processIdentifier, isStopped ? SIGSTOP : SIGCONT) }

    /// Ends the program at once, whatever it is doing, and waits until it is gone.
    package func killNow() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func readLine() -> String? {
        while true {
            if let end = pending.firstIndex(of: 0x0A) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return line
            }
            let chunk = output.fileHandleForReading.availableData
            guard !chunk.isEmpty else { return nil }
            pending += chunk
        }
    }

    deinit {
        if process.isRunning { process.terminate() }
    }
}
