import ChildProcesses
import Glibc
import SafeFiles
import StoreFormat
import StoreMigration
import SystemPackage

extension ScenarioRun {
    /// Runs the tool, and executes the steps of its trigger points.
    func run(_ call: VerbCall, _ step: ScenarioStep) throws {
        let run = try begin(call)
        let reached = try follow(run, call, step)
        guard let reached else { return }
        for moment in RunMoment.allCases where call.moments.contains(moment) && !reached.contains(moment) {
            fail(
                step.title,
                step.position,
                expected: "the run reaches the trigger point '\(moment.rawValue)'",
                found: "it ended before: \(run.endingText)",
                said: run.output.quoted
            )
            return
        }
        judge(run, call, step)
    }

    /// Runs the tool several times at once.
    func runTogether(_ steps: [ScenarioStep]) throws {
        var runs: [(run: ToolRun, call: VerbCall, step: ScenarioStep)] = []
        for step in steps {
            guard case .verb(let call) = step.action else { continue }
            runs.append((try begin(call), call, step))
        }
        for (run, call, step) in runs where try follow(run, call, step) != nil { judge(run, call, step) }
    }

    /// Waits until a run ends, and returns the trigger points that it reached; nil when it did not end in time.
    private func follow(_ run: ToolRun, _ call: VerbCall, _ step: ScenarioStep) throws -> Set<RunMoment>? {
        var reached: Set<RunMoment> = []
        let patience = call.deadline ?? scenario.deadline
        var deadline = Deadline(after: patience)
        while true {
            switch run.wait(until: deadline) {
            case .ended: return reached
            case .late:
                run.child.end()
                fail(
                    step.title,
                    step.position,
                    expected: "it ends within \(patience)",
                    found: "it was still running, and was killed",
                    said: run.output.quoted
                )
                return nil
            case .readable:
                guard let moment = run.gate?.moment() else { continue }
                reached.insert(moment)
                if case .at(moment) = call.death {
                    run.child.end()
                    return reached
                }
                if call.interruption == moment { run.child.signal(SIGINT) }
                if let pause = call.pauses.first(where: { $0.moment == moment }) { try carryOut(pause.steps) }
                run.gate?.open()
                deadline = Deadline(after: patience)
            }
        }
    }

    /// Starts a run, with paths for the names in its words.
    private func begin(_ call: VerbCall) throws -> ToolRun {
        let names = Set(scenario.stores.map(\.name))
        func expanded(_ text: String) -> String {
            Placeholders.replaced(in: text) { name in
                name == "place" ? place.path : names.contains(name) ? location(of: name).path : nil
            }
        }
        return try ToolRun(
            call,
            tool: tool,
            place: place,
            words: call.words.enumerated()
                .map { index, word in
                    index > 0 && names.contains(word) ? location(of: word).path : expanded(word)
                },
            environment: Dictionary(call.environment.map { ($0.name, expanded($0.value)) }) { _, last in last },
            patience: scenario.deadline
        )
    }

    // MARK: How it ended

    private func judge(_ run: ToolRun, _ call: VerbCall, _ step: ScenarioStep) {
        let position = call.ending.position ?? step.position
        func fail(_ expected: String, _ found: String) {
            self.fail(step.title, position, expected: expected, found: found, said: run.output.quoted)
        }
        if call.needsTracing, !run.wasTamperedWith {
            fail("the run makes the system calls that are to fail", "it made none of them: \(run.endingText)")
            return
        }
        if call.death != nil {
            if run.child.result != .signal(SIGKILL) { fail("it is killed", run.endingText) }
            return
        }
        guard case .status(let status) = run.child.result else { return fail("it ends by itself", run.endingText) }
        let (ending, output) = (call.ending, run.output)
        if let statuses = ending.statuses, !statuses.contains(status) {
            fail("status \(statuses.map(String.init).joined(separator: " or "))", run.endingText)
        }
        if let outcomes = ending.outcomes, !outcomes.contains(where: { $0.rawValue == output.summary["outcome"] }) {
            fail("outcome \(outcomes.map(\.rawValue).joined(separator: " or "))", run.endingText)
        }
        for code in ending.findings where !output.findings.contains(code) {
            fail("the finding \(code)", output.findings.isEmpty ? "none" : output.findings.joined(separator: ", "))
        }
        let unwanted: [String]
        switch ending.unwanted {
        case .all: unwanted = output.findings
        case .codes(let codes): unwanted = output.findings.filter(codes.contains)
        }
        if !unwanted.isEmpty { fail("no such finding", unwanted.joined(separator: ", ")) }
        for text in ending.texts where !output.texts.contains(where: { $0.contains(text) }) {
            fail("it says \(text)", output.texts.joined(separator: " | "))
        }
        for (name, value) in ending.members where output.summary[name] != value {
            fail("\(name) \(value) in the summary", output.summary[name] ?? "no such member")
        }
    }
}
