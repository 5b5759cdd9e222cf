import FoundationEssentials
import Glibc

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
        while let line = readLine() {
            let request = try JSONDecoder().decode(ProcessRequest.self, from: Data(line.utf8))
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
