import ChildProcesses
import Dispatch
import Glibc
public import StoreAccess
import Synchronization

/// Runs scenarios, several at once, each in its own scratch folder with real processes.
public struct ScenarioRunner: BlockingCalls {
    private let tool: String?
    private let jobs: Int
    private let keepsFiles: Bool

    /// Creates a runner.
    ///
    /// `tool` is the path of `store-migrate`, by default `$STORE_MIGRATE_TOOL`, else the program beside this one or on the
    /// `PATH`. `jobs` is how many scenarios run at once, by default one per core.
    public init(tool: String? = nil, jobs: Int? = nil, keepsFiles: Bool = false) {
        self.tool = tool
        self.jobs = max(1, jobs ?? sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        self.keepsFiles = keepsFiles
    }

    /// Runs scenarios and returns their reports in order; `onReport` gets each as soon as it and those before it are done.
    ///
    /// `isCancelled` is called before each, on several threads; scenarios that had not begun by then are left out. Throws
    /// ``RehearsalFailure`` when the tool is not found.
    @discardableResult
    public func run(
        _ scenarios: [Scenario],
        isCancelled: @escaping @Sendable () -> Bool = { false },
        onReport: (ScenarioReport) -> Void = { _ in }
    ) throws -> [ScenarioReport] {
        let tool = try tool ?? ToolLocator.path()
        let queue = Queue(scenarios, tool: tool, keepsFiles: keepsFiles, isCancelled: isCancelled)
        for _ in 0..<min(jobs, scenarios.count) { try PlainThread.start { queue.work() } }
        var reports: [ScenarioReport] = []
        for (index, done) in queue.done.enumerated() {
            // Every process of a scenario has a deadline, so this wait ends.
            done.wait()
            guard let report = queue.report(index) else { continue }
            reports.append(report)
            onReport(report)
        }
        return reports
    }

    /// Scenarios for the threads, and their reports.
    private final class Queue: Sendable {
        private struct State {
            var next = 0
            var reports: [Int: ScenarioReport] = [:]
        }

        let done: [DispatchSemaphore]
        private let scenarios: [Scenario]
        private let tool: String
        private let keepsFiles: Bool
        private let isCancelled: @Sendable () -> Bool
        private let state = Mutex(State())

        init(_ scenarios: [Scenario], tool: String, keepsFiles: Bool, isCancelled: @escaping @Sendable () -> Bool) {
            self.scenarios = scenarios
            self.tool = tool
            self.keepsFiles = keepsFiles
            self.isCancelled = isCancelled
            done = scenarios.map { _ in DispatchSemaphore(value: 0) }
        }

        /// Runs one scenario after the other until none is left.
        func work() {
            while let index = take() {
                if !isCancelled() {
                    let report = ScenarioRun.report(on: scenarios[index], tool: tool, keepsFiles: keepsFiles)
                    state.withLock { $0.reports[index] = report }
                }
                done[index].signal()
            }
        }

        func report(_ index: Int) -> ScenarioReport? { state.withLock { $0.reports[index] } }

        private func take() -> Int? {
            state.withLock { state in
                guard state.next < scenarios.count else { return nil }
                state.next += 1
                return state.next - 1
            }
        }
    }
}

extension Scenario: BlockingCalls {
    /// Runs this scenario and returns its report.
    ///
    /// Throws ``RehearsalFailure`` when the tool is not found; see ``ScenarioRunner``.
    public func rehearse() throws -> ScenarioReport {
        let reports = try ScenarioRunner(jobs: 1).run([self])
        guard let report = reports.first else { throw RehearsalFailure("the scenario was not run") }
        return report
    }
}
