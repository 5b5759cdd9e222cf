import CTestSupport
import ChildProcesses
import Foundation
import Glibc
import SafeFiles
import Synchronization
import TestSupport

extension WalkWorld {
    /// The time limit of a command on a loaded machine.
    private static var patience: Duration { .seconds(60) }
    /// The processor time that a command may use after SIGTERM, with the slack of a debug build.
    private static let answerTime = 0.6

    func tool(_ call: WalkStep.ToolCall, _ number: Int) throws -> [Violation] {
        guard var words = try arguments(of: call) else { return [] }
        if !holders.isEmpty, Self.waits(call.verb) { words += ["--lock-timeout", "300ms"] }
        let before = contents
        let files = try fingerprint(before: call)
        if call.value(of: "--old") == "capture" { captured.formUnion(call.places.prefix(1)) }
        if call.verb == "share", isOverruling(call) { overruling.formUnion(call.places.prefix(1)) }
        shell.append("$T " + words.map(relative).joined(separator: " "))
        let writer = try call.liveWriter.flatMap(liveWriter)
        let execution = try run(words, call.harm)
        let ending = execution.ending
        var call = call
        if !execution.isHarmed { call.harm = .none }
        let written = writer?.finish() ?? []
        let answer = Answer(ending: ending, text: try scratch.lines().joined(separator: "\n"))
        let outcome = answer.object("summary")?["outcome"] as? String
        shell[shell.count - 1] += "   # \(ending)\(outcome.map { ", \($0)" } ?? "")"
        if let complaint = answer.complaint { shell[shell.count - 1] += ": " + relative(complaint) }
        if !written.isEmpty, let place = call.liveWriter?.place {
            shell[shell.count - 1] += ", while an app at \(relative(places[place])) inserted \(written.count) rows"
        }
        let harm = call.harm == .none ? "" : call.failure == nil ? "(harmed) " : Self.failing
        endings["\(call.verb) \(harm)\(ending)", default: 0] += 1
        if case .exited(let status) = ending, call.harm == .none, call.liveWriter == nil {
            records.append(.ran(words: words.map(named), status: status))
        } else {
            records.append(.other)
        }
        name(pathsIn: answer.text)
        try readPlaces()
        try findArchives()
        if let place = call.liveWriter?.place { try record(written, at: place) }
        var found = try objections(to: call, answer, before: before, number)
        found += try unwantedChanges(by: call, answer, files, before)
            .map { Violation(step: number, rule: $0.0, text: $0.1) }
        if let afterSignal = execution.afterSignal, afterSignal > Self.answerTime {
            found.append(Violation(step: number, rule: "L7", text: "it worked for \(afterSignal) s after SIGTERM"))
        }
        note(call, ending)
        if call.verb == "share", ending == .exited(0), let place = call.places.last, call.liveWriter == nil {
            try keepBase(of: place)
        }
        return found
    }

    /// True for a command in whose conflicts one side may lose by the policy or resolver that it names, or by the policy that its share recorded.
    func isOverruling(_ call: WalkStep.ToolCall) -> Bool {
        if call.names(.takesOld) || call.names(.takesShared) { return true }
        guard let policy = call.value(of: "--policy") else {
            return call.verb != "merge" && call.places.prefix(1).contains(where: overruling.contains)
        }
        return ["late", "overwrite", "rollback"].contains(policy)
    }

    /// A word of a command line in a scenario's form.
    private func named(_ word: String) -> String {
        if let place = places.firstIndex(of: word) { return ["a", "b", "c"][place] }
        return word.replacing(scratch.path, with: "{place}")
    }

    /// Records the commands that a later one may still finish.
    private func note(_ call: WalkStep.ToolCall, _ ending: Command.Ending) {
        guard !Self.readers.contains(call.verb) else { return }
        switch ending {
        case .exited(0):
            unfinished.removeAll { !Set($0.places).isDisjoint(with: call.places) }
            interrupted.subtract(call.places.prefix(1))
        case .exited(let status) where ![5, 6, 130].contains(status) && call.failure == nil: break
        default:
            unfinished.append(call)
            interrupted.formUnion(call.places)
        }
    }

    /// Asks for the status of every pair of stores, as a person does who looks for rows.
    func askForStatus() throws {
        for old in places {
            for new in places where new != old {
                _ = try run(["status", old, new, "--json", "--lock-timeout", "300ms"], .none)
                name(pathsIn: try scratch.lines().joined(separator: "\n"))
            }
        }
    }

    private static func waits(_ verb: String) -> Bool { verb != "backups" && verb != "inspect" }

    /// The mark of commands whose file calls failed.
    private static let failing = "(failing) "
    /// The number of commands whose file calls failed.
    var failed: Int { endings.filter { $0.key.contains(Self.failing) }.values.reduce(0, +) }

    /// How a command was executed.
    private struct Execution {
        let ending: Command.Ending
        /// The processor time that it used after SIGTERM.
        var afterSignal: Double?
        /// False if it did not reach the file call that was to fail.
        var isHarmed = true
    }

    private func run(_ words: [String], _ harm: WalkStep.Harm) throws -> Execution {
        let command = program.map { Command(executable: $0, arguments: words) } ?? .tool(words)
        let deadline = Deadline(after: Self.patience)
        switch harm {
        case .none: return Execution(ending: try scratch.run(command, shim: nil, point: nil, deadline: deadline))
        case .killed(let call):
            let point = FaultPoint(number: call, fault: .killBefore)
            let ending = try scratch.run(command, shim: FaultSweep.shim, point: point, deadline: deadline)
            if ending == .killed(signal: SIGKILL) { shell[shell.count - 1] += "   # killed at file call \(call)" }
            return Execution(ending: ending)
        case .failed(let call, let failure):
            let environment = failure.environment(from: call)
            let ending = try scratch.run(
                command,
                shim: FaultSweep.shim,
                environment: environment,
                deadline: deadline
            )
            let report = try scratch.report()
            guard report.harmed > 0 else { return Execution(ending: ending, isHarmed: false) }
            shell[shell.count - 1] += "   # \(failure) from file call \(call) on: \(report.firstHarmed)"
            return Execution(ending: ending)
        case .terminated(let milliseconds):
            let process = try scratch.start(command)
            guard !Command.hasEnded(process, within: .milliseconds(milliseconds)) else {
                return Execution(ending: Command.ending(of: process, killingAfter: deadline))
            }
            let used = Command.processorTime(of: process)
            kill(process.id, SIGTERM)
            shell[shell.count - 1] += "   # SIGTERM after \(milliseconds) ms"
            // A zombie process still reports its processor time.
            let hasEnded = Command.hasEnded(process, within: .seconds(30))
            let afterSignal = Command.processorTime(of: process) - used
            if !hasEnded { process.signal(SIGKILL) }
            let ending = Command.ending(of: process, killingAfter: deadline)
            return Execution(ending: ending, afterSignal: afterSignal)
        }
    }

    /// The words of the command line; nil where a placeholder has no value.
    private func arguments(of call: WalkStep.ToolCall) throws -> [String]? {
        // A publication to a path without a store would make a snapshot there.
        if call.verb == "publish", call.places.count > 1, contents[call.places[1]] == nil { return nil }
        var words: [String] = []
        for word in call.words {
            switch word {
            case "{0}", "{1}", "{2}": words.append(places[Int(word.dropFirst().dropLast()) ?? 0])
            case "{folder 0}", "{folder 1}", "{folder 2}":
                let store = places[Int(word.dropFirst(8).dropLast()) ?? 0]
                words.append(URL(fileURLWithPath: store).deletingLastPathComponent().path)
            case "{base}":
                guard let base = base(for: call) else { return nil }
                words.append(base)
            case "{backups}": words.append(scratch.path + "/backups")
            case "{snapshot}":
                // Another command would make a store there.
                guard call.verb == "publish" || published != nil else { return nil }
                words.append(snapshotPath)
            case "{archive}":
                guard let archive = archives.last(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
                    return nil
                }
                words.append(archive.path)
            default: words.append(try WalkProgram(word: word).map(path(of:)) ?? word)
            }
        }
        return words
    }

    // MARK: Bases

    /// Copies a store that was just shared, as a person may, for later merges.
    func keepBase(of place: Int) throws {
        guard let content = contents[place], holders.isEmpty, bases.count < 8 else { return }
        let folder = "bases\(bases.count)"
        let path = scratch.path + "/" + folder + "/s.db"
        try FileManager.default.createDirectory(atPath: scratch.path + "/" + folder, withIntermediateDirectories: true)
        for suffix in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: places[place] + suffix) {
            try FileManager.default.copyItem(atPath: places[place] + suffix, toPath: path + suffix)
        }
        shell.append("mkdir \(folder); cp \(relative(places[place]))* \(folder)/   # a copy, to be a base later")
        bases.append((path, content))
    }

    /// The latest copy that is a base of both stores: each once had everything in it, apps removed or changed what one of them
    /// lacks, and it contains every row that both have.
    private func base(for call: WalkStep.ToolCall) -> String? {
        let stores = call.places.compactMap { place in contents[place].map { (held: held[place], tokens: $0.tokens) } }
        guard stores.count == 2 else { return nil }
        let rows = stores.map { store in Set(store.tokens.compactMap { model.versions[$0]?.row }) }
        return bases.last { base in
            let baseRows = Set(base.content.tokens.compactMap { model.versions[$0]?.row })
            let isCommon = stores.allSatisfy { store in
                base.content.tokens.isSubset(of: store.held)
                    && base.content.tokens.subtracting(store.tokens).allSatisfy { !model.isAlive($0) }
            }
            return isCommon && rows[0].intersection(rows[1]).isSubset(of: baseRows)
        }?
        .path
    }

    // MARK: Apps beside a command

    func hold(_ place: Int, _ kind: WalkStep.Hold) throws {
        guard contents[place] != nil else { return }
        try release(place)
        let holder = try StoreWriterProcess(places[place])
        records.append(.other)
        holders[place] = holder
        shell.append("# an app keeps \(relative(places[place])) open: \(kind)")
        switch kind {
        case .idle: break
        case .readTransaction: _ = try holder.execute("BEGIN")
        case .writeTransaction: _ = try holder.execute("BEGIN IMMEDIATE")
        }
        _ = try holder.execute("SELECT count(*) FROM sqlite_schema")
    }

    func release(_ place: Int) throws {
        guard let holder = holders.removeValue(forKey: place) else { return }
        shell.append("# the app that kept \(relative(places[place])) open is ended")
        _ = holder.waitForExit()
        try readPlaces()
    }

    private func liveWriter(_ writer: WalkStep.LiveWriter) throws -> LiveInserts? {
        guard contents[writer.place] != nil, contents[writer.place]?.refusal == nil else { return nil }
        return try LiveInserts(writer, shape, path: places[writer.place], lockTimeout: lockTimeout(at: writer.place))
    }

    /// How many milliseconds a live writer waits for a lock.
    ///
    /// A command releases its locks in time. An app that reads the store holds its lock longer than the command runs: in the
    /// journal mode `delete`, no commit succeeds beside it, and a long wait only delays the walk.
    private func lockTimeout(at place: Int) -> Int { holders[place] == nil ? 10_000 : 300 }

    /// Records rows that an app wrote while a command ran, from the stores that contain them now.
    private func record(_ tokens: [String], at place: Int) throws {
        // Rows that triggers wrote have the token of the row that fired them.
        let logged = tokens.map { "l" + $0.dropFirst() }
            .filter { token in contents.contains { $0?.rows[token] != nil } }
        for token in tokens + logged where model.versions[token] == nil {
            var row = contents.compactMap { $0?.rows[token]?.first }.first
            for path in named.sorted() where row == nil { row = try storedRow(token, in: path) }
            model.record(token, as: row, at: place)
        }
    }
}

/// An app in another process that inserts rows into a store, one after the other.
private final class LiveInserts: Sendable {
    private let acknowledged = Mutex<[String]>([])
    private let isOver = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the app, which waits `lockTimeout` milliseconds for a lock.
    init(_ writer: WalkStep.LiveWriter, _ shape: StoreShape, path: String, lockTimeout: Int) throws {
        var statements: [(token: String, sql: String)] = []
        var random = SeededGenerator(seed: writer.seed)
        for number in 0..<WalkStep.LiveWriter.rows {
            let token = WalkWorld.token(writer.firstToken + number)
            let sql = shape.insertion(into: number % shape.tables.count, token: token, &random)
            // INSERT OR IGNORE with a name in use would acknowledge no row.
            statements.append((token, sql.replacing("'same'", with: "'n\(token)'")))
        }
        let thread = Thread { [self, statements] in
            defer { ended.signal() }
            guard let process = try? StoreWriterProcess(path) else { return }
            _ = try? process.execute("PRAGMA synchronous = OFF")
            _ = try? process.execute("PRAGMA busy_timeout = \(lockTimeout)")
            for (token, sql) in statements where !isOver.withLock(\.self) {
                // The program reads one statement per line.
                let lines = ["BEGIN IMMEDIATE"] + sql.split(separator: "; ").map(String.init) + ["COMMIT"]
                let answers = lines.map { (try? process.execute($0)) ?? "error" }
                if answers.allSatisfy({ !$0.hasPrefix("error") }) {
                    acknowledged.withLock { $0.append(token) }
                } else {
                    _ = try? process.execute("ROLLBACK")
                }
            }
            _ = process.waitForExit()
        }
        thread.start()
    }

    /// Ends the app, and returns the tokens of the rows that SQLite acknowledged.
    func finish() -> [String] {
        isOver.withLock { $0 = true }
        ended.wait()
        return acknowledged.withLock { $0 }
    }
}
