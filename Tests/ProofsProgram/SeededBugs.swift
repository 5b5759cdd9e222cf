import FaultSupport
import Foundation
import SafeFiles
import Synchronization

/// Runs the tool with each known mistake, and checks that harnesses and tests notice it.
///
/// Every witness also runs with the unchanged tool, and must accept it.
struct SeededBugs: Proof {
    let name = "seeded-bugs"
    let title = "seeded bugs: each is noticed, two thirds of them by two witnesses"

    private static let timeLimit = Duration.seconds(300)

    /// One witness and one mistake, or none.
    private struct Question: Sendable {
        let bug: SeededMistake?
        let witness: Witness
        var answer = Answer.notAsked
    }

    private enum Answer: String {
        case notAsked = "not asked"
        case content = "not noticed"
        case noticed
        /// The witness gave no verdict: it was killed, or did not end.
        case stumbled
    }

    func run(_ scale: Scale) async throws -> Figure {
        let bugs = try SeededMistake.all().filter { $0.name.hasPrefix(scale.only) }
        var figure = Figure(unit: "mistakes", gate: bugs.count)
        guard FileManager.default.isExecutableFile(atPath: SeededMistake.buildFolder + "/proofs") else {
            figure.violations.append("there is no build with the mistakes: run Tests/Mistakes/check build")
            return figure
        }
        let questions = answered(Self.questions(about: bugs), until: scale.deadline)
        for question in questions where question.bug == nil && question.answer != .content {
            figure.violations.append("\(question.witness) rejects the unchanged tool: \(question.answer)")
        }
        var caughtTwice = 0
        for bug in bugs {
            let asked = questions.filter { $0.bug?.name == bug.name }
            let witnesses = asked.filter { $0.answer == .noticed }.map(\.witness.description)
            figure.tried += 1
            caughtTwice += witnesses.count >= 2 ? 1 : 0
            if witnesses.isEmpty { figure.violations.append("no witness noticed \(bug)") }
            figure.remarks.append(
                "\(witnesses.isEmpty ? "missed" : "caught") \(bug): \(witnesses.joined(separator: ", "))"
                    + (asked.count > witnesses.count
                        ? " (not by \(asked.filter { $0.answer != .noticed }.map(\.witness.description).joined(separator: ", ")))"
                        : "")
            )
        }
        figure.remarks.append("\(caughtTwice) of \(bugs.count) were noticed by two")
        if caughtTwice * 3 < bugs.count * 2 { figure.violations.append("too few were noticed by two") }
        return figure
    }

    private static func questions(about bugs: [SeededMistake]) -> [Question] {
        let all = bugs.flatMap { bug in bug.witnesses.map { Question(bug: bug, witness: $0) } }
        var names: Set<String> = []
        let controls = all.map(\.witness).filter { names.insert($0.description).inserted }
        return controls.map { Question(bug: nil, witness: $0) } + all
    }

    /// Runs several witnesses at once.
    private func answered(_ questions: [Question], until deadline: Deadline) -> [Question] {
        let answers = Mutex(questions)
        Work.forEach(Array(questions.indices), until: deadline) { index in
            let answer = ask(questions[index])
            answers.withLock { $0[index].answer = answer }
            let mistake = questions[index].bug.map { "\($0)" } ?? "no mistake"
            Page.say("\(answer.rawValue) by \(questions[index].witness): \(mistake)")
        }
        return answers.withLock { $0 }
    }

    private func ask(_ question: Question) -> Answer {
        var environment = ProcessInfo.processInfo.environment
        // Only the tool beside the witness has the mistakes.
        environment["STORE_MIGRATE_TOOL"] = nil
        let command: Command
        switch question.witness.kind {
        case .proof(let name, let only):
            if let bug = question.bug { environment["FAULT_SUPPORT_SEEDED_BUG"] = "\(bug)" }
            // This harness calls SafeFiles directly, without the tool.
            if name == Swaps().name { environment["STORE_MIGRATE_SEEDED_BUG"] = question.bug.map { "\($0)" } }
            command = Command(
                executable: SeededMistake.buildFolder + "/proofs",
                arguments: [name, "--first", "--only", only],
                environment: environment
            )
        case .suite(let name):
            for variable in ["STORE_MIGRATE_SEEDED_BUG", "FAULT_SUPPORT_SEEDED_BUG"] {
                environment[variable] = question.bug.map { "\($0)" }
            }
            command = .tests(of: name, in: SeededMistake.buildFolder, environment: environment)
        }
        do {
            let place = try TemporaryDirectory(prefix: "seeded-bug")
            let output = place.directory.path + "/output"
            switch try command.run(output: output, deadline: Deadline(after: Self.timeLimit)) {
            case .exited(0): return .content
            // The status of both harnesses and tests for a failure.
            case .exited(1): return .noticed
            case let ending:
                Page.say("\(question.witness) ended with \(ending)")
                return .stumbled
            }
        } catch {
            Page.say("\(question.witness) could not be asked: \(error)")
            return .stumbled
        }
    }
}
