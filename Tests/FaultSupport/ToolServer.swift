import CFaultShim
import ChildProcesses
import Foundation
import Glibc
import SafeFiles
import Synchronization
import SystemPackage

/// A fork server: the tool, started once and stopped before its main function, forks a child for each command.
///
/// A child has the state of a program at its start, plus the caches of the Swift runtime, such as the metadata of generic
/// types. It makes the same file calls as a program that was started for the command.
final class ToolServer: Sendable {
    /// `exec` in this variable starts a new program for each command.
    static let variable = "STORE_MIGRATE_STARTS"
    /// The greatest number of words of a command.
    private static let capacity = 64

    private static let servers = Mutex<[Key: ToolServer]>([:])

    /// The properties that all commands of a server share.
    private struct Key: Hashable {
        let executable: String
        let environment: [String: String]
    }

    private let process: ChildProcess
    private let socket: Mutex<Int32>

    /// Returns the server for commands that share these variables; nil if each command starts a new program.
    static func server(of executable: String, environment: [String: String]) throws -> ToolServer? {
        guard getenv(variable).map({ String(cString: $0) }) != "exec" else { return nil }
        let key = Key(executable: executable, environment: environment)
        return try servers.withLock { servers in
            if let server = servers[key] { return server }
            let server = try ToolServer(key)
            servers[key] = server
            return server
        }
    }

    private init(_ key: Key) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Errno(rawValue: errno)
        }
        defer { close(ends[1]) }
        // A server that does not answer must not hold up all commands.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        socket = Mutex(ends[0])
        let place = try TemporaryDirectory(prefix: "tool-server")
        // A tool with a seeded mistake does not warm up: the mistake belongs into the run that is judged.
        let warming = key.environment["STORE_MIGRATE_SEEDED_BUG"] == nil ? try Self.warmingWords(in: place) : []
        var environment = key.environment
        environment["LD_PRELOAD"] = FaultSweep.shim
        environment["FAULT_SHIM_SERVER"] = String(1 + warming.count)
        environment["TMPDIR"] = place.directory.path
        let room = Array(repeating: "-", count: Self.capacity - warming.count)
        process = try ChildProcess(
            Program([key.executable] + warming + room, environment: environment),
            input: .descriptor(ends[1]),
            output: .null
        )
        let answer = withExtendedLifetime(place) { fault_shim_answer(ends[0]) }
        guard answer == 0 else { throw Errno(rawValue: -answer) }
    }

    deinit { socket.withLock { _ = close($0) } }

    /// A command that uses most of the runtime's caches, in one thread.
    private static func warmingWords(in place: TemporaryDirectory) throws -> [String] {
        let template = try HabitTemplate.make(journalMode: "wal")
        try template.write(into: place.directory.createDirectory("old", mode: 0o700))
        _ = try place.directory.createDirectory("new", mode: 0o700)
        let path = place.directory.path
        return ["share", "\(path)/old/\(template.name)", "\(path)/new", "--old", "capture", "--level", "content"]
    }

    /// Starts a command with its output to a file.
    func start(_ command: Command, output path: String) throws -> ChildProcess {
        let words = [command.executable] + command.arguments
        let variables = command.environment.map { "\($0)=\($1)" }
        var request: [UInt8] = []
        for count in [words.count, variables.count] {
            withUnsafeBytes(of: UInt32(count)) { request += $0 }
        }
        for text in words + variables { request += Array(text.utf8) + [0] }
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let output = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer {
            close(input)
            close(output)
        }
        guard input != -1, output != -1 else { throw Errno(rawValue: errno) }
        let id = socket.withLock { fault_shim_request($0, request, request.count, [input, output, output]) }
        guard id > 0 else { throw Errno(rawValue: -id) }
        return try ChildProcess(adopting: id)
    }
}
