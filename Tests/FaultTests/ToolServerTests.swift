import FaultSupport
import Foundation
import SafeFiles
import TestSupport
import Testing

@Suite("Tools forked from a server", .sampled)
struct ToolServerTests {
    private static let deadline = Duration.seconds(120)

    /// What a run did, without what differs between two runs: paths, random names and numbers.
    private struct Trace: Hashable {
        let ending: Command.Ending
        let output: [String]
        var kinds: [CallKind?]
        var changes: [String]
    }

    /// Commands whose calls have no fixed order: they have several threads, or remove files in the order of random names.
    private static let unordered: Set = ["retire", "backup", "restore", "unshare", "unshareFenced"]

    /// The commands that write, and others by their words.
    private static let names =
        [
            "share", "described share", "replace", "resume", "retire", "backup", "restore", "migrate", "relay post",
            "relay drain",
        ] + MergeJudge.Kind.allCases.map(\.rawValue)

    private static func judge(_ name: String) throws -> any Judge {
        let template = try HabitTemplate.makeCoreData(journalMode: "wal")
        switch name {
        case "described share":
            return ShareJudge(
                template: try HabitTemplate.makeCoreData(journalMode: "wal", tracksHistory: false),
                described: DescribedShare()
            )
        case "replace":
            let empty = try HabitTemplate.makeCoreData(journalMode: "wal", isEmpty: true)
            return ShareJudge(template: template, displaced: empty)
        case "resume": return try ResumeJudge(.afterPublishing, template: template)
        case "retire": return RetireJudge(template: template)
        case "backup": return BackupJudge(template: template)
        case "restore": return try RestoreJudge(template: template)
        case "migrate": return try MigrateJudge(template: template)
        case "relay post": return RelayPostJudge(template: template)
        case "relay drain": return try RelayDrainJudge(template: template)
        default:
            return MergeJudge.Kind(rawValue: name).map { MergeJudge(kind: $0, template: template) }
                ?? ShareJudge(template: template)
        }
    }

    /// Runs a command in a fresh scratch folder.
    private static func trace(_ judge: any Judge, isForked: Bool) throws -> Trace {
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let command = judge.command(scratch)
        let ending = try scratch.run(
            isForked ? command : command.started,
            in: Scratch.Guise(),
            records: true,
            deadline: Deadline(after: deadline)
        )
        var files: [UInt64: Int] = [:]
        let changes = try scratch.recordedOperations()
            .map { operation in
                let file = files[operation.file, default: files.count]
                files[operation.file] = file
                return "file \(file): \(settled("\(operation)", scratch))"
            }
        return Trace(
            ending: ending,
            output: try scratch.lines().map { settled($0, scratch) },
            kinds: try scratch.report().kinds,
            changes: changes
        )
    }

    private static func settled(_ text: String, _ scratch: Scratch) -> String {
        text.replacing(scratch.path, with: "").replacing(/[0-9A-F]{8}-[0-9A-F-]{27}|[0-9A-Za-z]{16,}/, with: "#")
            .replacing(/[0-9]+(\.[0-9]+)?/, with: "0")
    }

    @Test("A forked command makes the calls, changes and output of a started command", arguments: Tier.oneOrAll(names))
    func sameTrace(name: String) throws {
        let judge = try Self.judge(name)
        func trace(isForked: Bool) throws -> Trace {
            var trace = try Self.trace(judge, isForked: isForked)
            guard Self.unordered.contains(name) else { return trace }
            trace.changes.sort()
            trace.kinds.sort { ($0?.rawValue ?? 0) < ($1?.rawValue ?? 0) }
            return trace
        }
        let forked = try trace(isForked: true)
        #expect(forked.ending == .exited(0))
        #expect(!forked.kinds.isEmpty)
        #expect(!forked.changes.isEmpty)
        // Two runs of one kind can differ, too, because of random names and of threads: then some pair has to agree.
        var (ofForked, ofStarted): (Set<Trace>, Set<Trace>) = ([forked], [try trace(isForked: false)])
        for _ in 0..<20 where ofForked.isDisjoint(with: ofStarted) {
            ofForked.insert(try trace(isForked: true))
            ofStarted.insert(try trace(isForked: false))
        }
        #expect(!ofForked.isDisjoint(with: ofStarted), "\(forked)\n\(ofStarted.first.map { "\($0)" } ?? "")")
    }

    @Test("A forked command reads its own words, not those of the warm-up or of the command before")
    func ownWords() throws {
        let scratch = try Scratch()
        let absent = "\(scratch.path)/absent"
        for words in [
            ["--version"], ["nonsense"], [], ["relay", "list", absent], ["share", absent], ["status", absent, absent],
            ["inspect", absent, "--json"], ["doctor"], ["strategies", "list"], ["--version"],
        ] {
            let command = Command.tool(words)
            let (forked, started) = (try run(command, scratch), try run(command.started, scratch))
            #expect(forked.ending == started.ending, "\(words)")
            #expect(forked.output == started.output, "\(words)")
        }
    }

    @Test("A forked command has the descriptors, signals, mask, user, folder and limits of a started command")
    func sameProcess() throws {
        let scratch = try Scratch()
        // Stopped at its first call, a command shows what the kernel knows about it.
        let judge = RelayPostJudge(template: try HabitTemplate.makeCoreData(journalMode: "wal"))
        try judge.prepare(scratch)
        var states: [[String]] = []
        for command in [judge.command(scratch), judge.command(scratch).started] {
            var state: [String] = []
            _ = try scratch.run(
                command,
                stoppingAt: FaultPoint(number: 0, fault: .stop),
                deadline: Deadline(after: Self.deadline)
            ) { process in state = Self.state(of: process) }
            states.append(state)
        }
        #expect(states[0].count > 20)
        #expect(states[0] == states[1])
    }

    /// The lines of `status` that two runs share, the limits, the group, the folders and the descriptors.
    private static func state(of process: Int32) -> [String] {
        let (folder, files) = ("/proc/\(process)", FileManager.default)
        func lines(_ name: String) -> [String] {
            let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map(String.init)
        }
        let fields: Set = [
            "Name", "Umask", "Uid", "Gid", "Groups", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt",
            "CapEff", "NoNewPrivs", "Seccomp", "TracerPid", "PPid",
        ]
        let descriptors = (try? files.contentsOfDirectory(atPath: folder + "/fd")) ?? []
        let links = ["cwd", "root", "exe"] + descriptors.sorted().map { "fd/\($0)" }
        let targets = links.map { link in
            "\(link) \((try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(link)")) ?? "")"
        }
        let leads = getpgid(process) == process ? "leads its group" : "is in another group"
        return lines("status").filter { fields.contains(String($0.prefix { $0 != ":" })) } + lines("limits")
            + ["\(leads), session \(getsid(process))"] + targets
    }

    @Test("A forked command that is killed at a call ends with the signal, and the server forks the next")
    func killed() throws {
        let judge = RelayPostJudge(template: try HabitTemplate.makeCoreData(journalMode: "wal"))
        let scratch = try Scratch()
        try judge.prepare(scratch)
        let point = FaultPoint(number: 20, fault: .killBefore)
        let ending = try scratch.run(
            judge.command(scratch),
            shim: FaultSweep.shim,
            point: point,
            deadline: Deadline(after: Self.deadline)
        )
        #expect(ending == .killed(signal: 9))
        #expect(try scratch.report().harmed == 1)
        #expect(try run(Command.tool(["--version"]), scratch).ending == .exited(0))
    }

    @Test("Commands are forked beyond the number that one server forks")
    func manyCommands() throws {
        let scratch = try Scratch()
        for _ in 0..<70 { #expect(try run(Command.tool(["--version"]), scratch).ending == .exited(0)) }
    }

    private func run(_ command: Command, _ scratch: Scratch) throws -> (ending: Command.Ending, output: [String]) {
        let ending = try scratch.run(command, shim: nil, point: nil, deadline: Deadline(after: Self.deadline))
        return (ending, try scratch.lines().map { Self.settled($0, scratch) })
    }
}
