import CFaultShim
import ChildProcesses
import Glibc
import Synchronization
import SystemPackage

/// A fork server: the tool, started once, runs a command that finds no store, then forks a child for each command.
///
/// The warm-up fills the caches of the Swift runtime, such as the metadata of generic types. It opens no store, so that a
/// child opens SQLite, searches for leftovers and draws its numbers itself. A child has the streams, signals, process
/// group, words and environment of a started program, and makes the same file calls. Variables that a program reads before
/// its main function belong to the server.
final class ToolServer: Sendable {
    /// The greatest number of words of a command.
    private static let capacity = 64
    /// The seed of hashes is drawn when the program is loaded, so the children of one server share it.
    private static let mostChildren = 64

    private static let servers = Mutex<[Key: ToolServer]>([:])

    /// The properties that all commands of a server share.
    private struct Key: Hashable {
        let executable: String
        let environment: [String: String]
    }

    private struct State {
        let socket: Int32
        var children = 0
    }

    private let process: ChildProcess
    private let state: Mutex<State>

    /// Returns a server for commands that share these variables.
    static func server(of executable: String, environment: [String: String]) throws -> ToolServer {
        let key = Key(executable: executable, environment: environment)
        return try servers.withLock { servers in
            if let server = servers[key], server.mayFork { return server }
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
        // A server that does not answer must not hold up all commands.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        state = Mutex(State(socket: ends[0]))
        let absent = FaultSweep.shim + "/absent"
        let warming = [key.executable, "share", absent, absent, "--old", "capture", "--level", "content", "--json"]
        var environment = key.environment
        environment["LD_PRELOAD"] = FaultSweep.shim
        environment["FAULT_SHIM_SERVER"] = String(warming.count)
        let program = Program(
            warming + Array(repeating: "-", count: Self.capacity - warming.count),
            environment: environment
        )
        process = try {
            // While this process has the server's end open, too, no exit of the server ends the wait for its answer.
            defer { close(ends[1]) }
            return try ChildProcess(program, input: .descriptor(ends[1]), output: .null)
        }()
        let answer = fault_shim_answer(ends[0])
        guard answer >= 0 else { throw Errno(rawValue: -answer) }
    }

    deinit { state.withLock { _ = close($0.socket) } }

    /// Counts a child, and returns false if the server has forked enough.
    private var mayFork: Bool {
        state.withLock { state in
            state.children += 1
            return state.children <= Self.mostChildren
        }
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
        let input = open("/dev/null", O_RDWR | O_CLOEXEC)
        let output = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer {
            close(input)
            close(output)
        }
        guard input != -1, output != -1 else { throw Errno(rawValue: errno) }
        let id = state.withLock { fault_shim_request($0.socket, request, request.count, [input, output, output]) }
        guard id > 0 else { throw Errno(rawValue: -id) }
        // The child does the same; this call ensures that the group exists when this function returns.
        setpgid(id, id)
        return try ChildProcess(adopting: id, path: command.executable)
    }
}
