import ChildProcesses
import FoundationEssentials
import Glibc
import SafeFiles
import StoreAccess
import StoreFixtures
import StoreMigration
import SystemPackage

/// Runs one scenario, from the first store to the last expectation, on one thread.
final class ScenarioRun {
    /// A step failed; the failures contain the reason.
    struct Stopped: Error {}
    /// This machine lacks a requirement of a step.
    struct Lacking: Error {
        let what: String
    }

    let scenario: Scenario
    let tool: String
    let place: RehearsalPlace
    var processes: [String: HelperProcess] = [:]
    /// Rounds that each process had acknowledged when it ended.
    var rounds: [String: Int64] = [:]
    var marks: [String: PlaceSnapshot] = [:]
    /// The snapshot before the first step.
    var beginning: PlaceSnapshot?
    private(set) var failures: [ScenarioFailure] = []
    private var steps: [ScenarioStepReport] = []

    private init(_ scenario: Scenario, tool: String, place: RehearsalPlace) {
        self.scenario = scenario
        self.tool = tool
        self.place = place
    }

    /// Runs a scenario in a new scratch folder, which is removed unless the files are kept.
    static func report(on scenario: Scenario, tool: String, keepsFiles: Bool) -> ScenarioReport {
        let start = ContinuousClock.now
        var (steps, failures): ([ScenarioStepReport], [ScenarioFailure]) = ([], [])
        var (reason, kept): (String?, String?)
        do {
            let place = try RehearsalPlace(keptAs: keepsFiles ? scenario.name : nil)
            defer { place.remove() }
            let run = ScenarioRun(scenario, tool: tool, place: place)
            reason = run.carryOut()
            (steps, failures) = (run.steps, run.failures)
            kept = keepsFiles ? place.path : nil
        } catch {
            reason = "no scratch folder can be made: \(error)"
        }
        return ScenarioReport(
            name: scenario.name,
            path: scenario.path,
            about: scenario.about,
            story: scenario.story,
            result: reason != nil ? .notRun : failures.isEmpty ? .held : .failed,
            steps: steps,
            failures: failures,
            reason: reason,
            seconds: Self.seconds(since: start),
            keptPlace: kept
        )
    }

    /// Returns why it could not be run; nil when it was.
    private func carryOut() -> String? {
        defer { endProcesses() }
        do {
            try prepare()
            try carryOut(scenario.steps)
            endProcesses()
            for expectation in scenario.expectations { check(expectation) }
        } catch let error as Lacking {
            return error.what
        } catch is Stopped {
            return nil
        } catch {
            return "\(error)"
        }
        return nil
    }

    private func prepare() throws {
        for store in scenario.stores {
            try FileChanger(place: place).makeFolders(above: store.place)
            guard let source = store.source else { continue }
            try make(store.place, source)
        }
        try FileChanger(place: place).carryOut(scenario.files)
        beginning = try PlaceSnapshot(of: place.directory)
    }

    /// Runs steps, and stops at the first failure.
    func carryOut(_ steps: [ScenarioStep]) throws {
        for step in steps {
            let (start, before) = (ContinuousClock.now, failures.count)
            defer {
                self.steps.append(
                    ScenarioStepReport(
                        line: step.position.line,
                        title: step.title,
                        hasHeld: failures.count == before,
                        seconds: Self.seconds(since: start)
                    )
                )
            }
            do {
                try carryOut(step)
            } catch let error where !(error is Stopped || error is Lacking) {
                fail(step.title, step.position, expected: "the step can be carried out", found: "\(error)")
            }
            guard failures.count == before else { throw Stopped() }
        }
    }

    private func carryOut(_ step: ScenarioStep) throws {
        switch step.action {
        case .verb(let call): try run(call, step)
        case .together(let steps): try runTogether(steps)
        case .make(let store, let source): try make(relativePlace(of: store), source)
        case .write(let write):
            let refusal = try ask(.execute(write.statements), of: write.process, in: write.store)
            judge(refusal, write.refusal, step)
        case .save(let save):
            let refusal = try ask(.save(save.changes), of: save.process, in: save.store)
            judge(refusal, save.refusal, step)
        case .start(let start): try begin(start, step)
        case .stop(let name):
            let process = try running(name)
            let refusal = try process.stop(deadline: scenario.deadline)
            end(name)
            // A fence ends a loop; a scenario with a fence checks it elsewhere.
            _ = refusal
        case .kill(let name):
            _ = try running(name)
            end(name)
        case .suspend(let name, let isEnded): try suspend(name, isEnded: isEnded, step)
        case .proceed(let name):
            let process = try running(name)
            guard process.isSuspended else { throw RehearsalFailure("the process '\(name)' is not suspended") }
            process.proceed()
        case .files(let changes): try FileChanger(place: place).carryOut(changes)
        case .check(let expectations): for expectation in expectations { check(expectation) }
        case .mark(let name): marks[name] = try PlaceSnapshot(of: place.directory)
        }
    }

    /// Records a failure.
    func fail(_ title: String, _ position: RecipePosition, expected: String, found: String, said: String = "") {
        failures.append(
            ScenarioFailure(
                line: position.line,
                column: position.column,
                title: title,
                expected: expected,
                found: found,
                said: said
            )
        )
    }

    // MARK: Stores

    func location(of store: String) -> StoreLocation {
        StoreLocation(path: place.absolute(relativePlace(of: store)))
    }

    private func relativePlace(of store: String) -> String {
        scenario.stores.first { $0.name == store }?.place ?? store
    }

    private func make(_ relative: String, _ source: StoreSource) throws {
        let changer = FileChanger(place: place)
        switch source {
        case .file(let path): try changer.copyStore(from: path, to: relative)
        case .recipe(let recipe):
            try changer.makeFolders(above: relative)
            try RecipeBuilder.build(recipe, at: StoreLocation(path: place.absolute(relative)))
        }
    }

    // MARK: Processes

    private func begin(_ start: ProcessStart, _ step: ScenarioStep) throws {
        let process = try newProcess(for: start.store)
        processes[start.process] = process
        let request: ProcessRequest
        switch start.work {
        case .nothing: request = .execute(["SELECT count(*) FROM sqlite_schema"])
        case .holdsReader: request = .holdReader
        case .holdsWriteLock: request = .holdWriteLock
        case .repeats(let sql, let after): request = .repeatSQL(sql, after: after)
        }
        judge(try process.ask(request, deadline: scenario.deadline), nil, step)
    }

    /// Stops a process, and ends it if it holds a lock for which iOS would.
    private func suspend(_ name: String, isEnded wanted: Bool, _ step: ScenarioStep) throws {
        let process = try running(name)
        guard process.suspend() else { throw RehearsalFailure("the process '\(name)' has ended") }
        let offences = try SuspensionCheck(of: place.path, processes: [process.id]).offences
        let found = offences.isEmpty ? "it survives" : offences.map(\.sentence).joined(separator: "; ")
        if !offences.isEmpty { end(name) }
        guard offences.isEmpty == wanted else { return }
        let killed = "it is killed with 0xdead10cc"
        fail(
            step.title,
            step.position,
            expected: wanted ? killed : "it survives",
            found: wanted ? found : "\(killed): \(found)"
        )
    }

    private func ask(_ request: ProcessRequest, of name: String?, in store: String) throws -> String? {
        if let name { return try running(name).ask(request, deadline: scenario.deadline) }
        let process = try newProcess(for: store)
        let refusal = try process.ask(request, deadline: scenario.deadline)
        _ = try process.stop(deadline: scenario.deadline)
        return refusal
    }

    private func newProcess(for store: String) throws -> HelperProcess {
        let path = location(of: store).path
        return try HelperProcess(tool: tool, path: path, place: place, deadline: scenario.deadline)
    }

    private func running(_ name: String) throws -> HelperProcess {
        guard let process = processes[name] else { throw RehearsalFailure("the process '\(name)' has ended") }
        return process
    }

    private func judge(_ refusal: String?, _ wanted: Refusal?, _ step: ScenarioStep) {
        switch (wanted, refusal) {
        case (nil, nil), (.any, .some): break
        case (nil, let refusal?): fail(step.title, step.position, expected: "it succeeds", found: refusal)
        case (.some, nil): fail(step.title, step.position, expected: "it is refused", found: "it succeeded")
        case (.saying(let text), let refusal?):
            if refusal.contains(text) { break }
            fail(step.title, step.position, expected: "it is refused, saying \(text)", found: refusal)
        }
    }

    private func end(_ name: String) {
        guard let process = processes.removeValue(forKey: name) else { return }
        process.end()
        rounds[name] = process.rounds
    }

    private func endProcesses() {
        for (name, process) in processes {
            _ = try? process.stop(deadline: scenario.deadline)
            end(name)
        }
    }

    static func seconds(since start: ContinuousClock.Instant) -> Double {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

extension ScenarioRun {
    /// Runs the tool, and executes the steps of its trigger points.
    func run(_ call: VerbCall, _ step: ScenarioStep) throws {
        let run = try begin(call)
        let reached = try follow(run, call, step)
        guard let reached else { return }
        for moment in TriggerPoint.allCases where call.moments.contains(moment) && !reached.contains(moment) {
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
    private func follow(_ run: ToolRun, _ call: VerbCall, _ step: ScenarioStep) throws -> Set<TriggerPoint>? {
        var reached: Set<TriggerPoint> = []
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
