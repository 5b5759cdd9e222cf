import CConfinement
import ChildProcesses
import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import Synchronization
import SystemPackage

/// The part of a rehearsed run in the run's own process: it stops at trigger points, and dies with the rehearsal.
///
/// Otherwise the run equals one from the command line with the same words.
public struct RehearsedRun {
    /// The command-line word that starts one.
    public static let word = "rehearsed-run"
    /// The number of the user `nobody`.
    static let nobody: UInt32 = 65_534
    private static let separator = "--"

    /// The command line of the tool.
    public let words: [String]
    private let gate: String
    private let folder: String
    private let seconds: UInt32
    private let runsAsNobody: Bool
    private let moments: Set<TriggerPoint>

    init(
        words: [String],
        gate: String,
        folder: String,
        seconds: UInt32,
        runsAsNobody: Bool,
        moments: Set<TriggerPoint>
    ) {
        self.words = words
        self.gate = gate
        self.folder = folder
        self.seconds = seconds
        self.runsAsNobody = runsAsNobody
        self.moments = moments
    }

    /// Reads the words after ``word``.
    public init(arguments: [String]) throws {
        guard arguments.count > 6, arguments[5] == Self.separator, let seconds = UInt32(arguments[1]) else {
            throw RehearsalFailure("this command is for rehearsals alone")
        }
        self.init(
            words: Array(arguments[6...]),
            gate: arguments[0],
            folder: arguments[4],
            seconds: seconds,
            runsAsNobody: arguments[2] == "nobody",
            moments: Set(arguments[3].split(separator: ",").compactMap { TriggerPoint(rawValue: String($0)) })
        )
    }

    /// The words that ``init(arguments:)`` reads.
    var arguments: [String] {
        let moments = moments.map(\.rawValue).sorted().joined(separator: ",")
        return [
            gate, "\(seconds)", runsAsNobody ? "nobody" : "-", moments.isEmpty ? "-" : moments, folder, Self.separator,
        ] + words
    }

    /// Applies deadline, user and working folder to this process; to be called before anything else.
    public func prepare() throws {
        // The kernel ends this process even if the rehearsal dies.
        alarm(seconds)
        let parent = getppid()
        if !moments.isEmpty { try watchMoments() }
        if runsAsNobody, getuid() == 0 {
            guard setgroups(0, nil) == 0, setgid(Self.nobody) == 0, setuid(Self.nobody) == 0 else {
                throw RehearsalFailure("this process cannot become the user nobody (\(Errno(rawValue: errno)))")
            }
        }
        guard chdir(folder) == 0 else {
            throw RehearsalFailure("\(folder) cannot be entered (\(Errno(rawValue: errno)))")
        }
        // A change of user clears the parent-death signal, and a process that a tracer starts does not have it yet.
        _ = cconfinement_end_with(parent)
    }

    private func watchMoments() throws {
        let said = open(gate + "/" + RunGate.saidName, O_WRONLY | O_CLOEXEC)
        let go = open(gate + "/" + RunGate.goName, O_RDONLY | O_CLOEXEC)
        guard said != -1, go != -1 else {
            throw RehearsalFailure("the rehearsal's pipes cannot be opened (\(Errno(rawValue: errno)))")
        }
        let waited = Mutex(moments)
        TriggerPoint.observe { moment in
            // Only the first pass of a point counts, and only one thread at a time stops.
            waited.withLock { waited in
                guard waited.remove(moment) != nil else { return }
                let line = Array((moment.rawValue + "\n").utf8)
                _ = write(said, line, line.count)
                var byte: UInt8 = 0
                // The end of the pipe means that the rehearsal is gone.
                var count: Int
                repeat { count = read(go, &byte, 1) } while count < 0 && errno == EINTR
                guard count == 1 else { _exit(137) }
            }
        }
    }
}

/// A process of a rehearsal that opens a store and writes to it as an app, or an extension of one, would.
///
/// It reads requests from standard input, one line of JSON each, and answers on standard output.
public struct RehearsedProcess {
    /// The command-line word that starts one.
    public static let word = "rehearsed-process"

    private let writer: PlainWriter
    private let path: String
    private var context: ContextWriter?
    private let counter: RoundCounter
    private var rounds: Int64 = 0
    /// Why the loop ended by itself.
    private var refusal: String?

    /// Serves requests until one to stop or the end of its input.
    ///
    /// The arguments are the store's path, the seconds it may take, and the file that counts its rounds.
    public static func run(arguments: [String]) throws {
        guard arguments.count == 3, let seconds = UInt32(arguments[1]) else {
            throw RehearsalFailure("this command is for rehearsals alone")
        }
        // The kernel ends this process even if the rehearsal dies.
        alarm(seconds)
        var process = RehearsedProcess(
            writer: PlainWriter(arguments[0]),
            path: arguments[0],
            counter: try RoundCounter(arguments[2])
        )
        for line in InputLines() {
            let request = try JSONDecoder().decode(ProcessRequest.self, from: Data(line))
            try process.answer(request)
            if case .stop = request { break }
        }
    }

    private mutating func answer(_ request: ProcessRequest) throws {
        do {
            switch request {
            case .execute(let statements): try writer.execute(statements)
            case .holdReader: try writer.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
            case .holdWriteLock: try writer.execute("BEGIN IMMEDIATE")
            case .repeatSQL(let sql, let after):
                try work(sql, after)
                return
            case .save(let changes):
                let context = try self.context ?? ContextWriter(path)
                self.context = context
                try context.save(changes)
            case .stop:
                context = nil
                writer.close()
            }
            try say(ProcessAnswer(refusal: refusal))
        } catch {
            try say(ProcessAnswer(refusal: "\(error)"))
        }
    }

    /// Repeats a statement until the next request or until it is refused.
    private mutating func work(_ sql: String, _ after: Int64) throws {
        var isTold = false
        while refusal == nil, !Self.hasRequest() {
            do {
                try writer.execute(sql.replacing("{n}", with: "\(rounds + 1)"))
                rounds += 1
                counter.note(rounds)
            } catch let error as PlainWriter.Refusal {
                if !error.isBusy { refusal = error.description }
            }
            if !isTold, rounds >= after || refusal != nil {
                isTold = true
                try say(ProcessAnswer())
            }
        }
        if !isTold { try say(ProcessAnswer()) }
    }

    /// Polls for one millisecond, which gives the loop the pace of a busy app.
    private static func hasRequest() -> Bool {
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 1) > 0
    }

    private func say(_ answer: ProcessAnswer) throws {
        let line = [UInt8](try JSONEncoder().encode(answer)) + [UInt8(ascii: "\n")]
        _ = write(STDOUT_FILENO, line, line.count)
    }
}
