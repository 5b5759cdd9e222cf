import Benchmark
import Foundation

/// The cost table of the fetched-results investigation, printed; the ratio is that of the default to remedy m.
func remedyBenchmarks() {
    for count in [10, 1000, 100_000] {
        Benchmark(
            "Remedies for missed objects, \(count)",
            configuration: configuration([ratio, ours, peers], iterations: 1)
        ) { benchmark in
            var lines = [line(["\(count) objects", "right", "notified", "faults fired", "rows read", "ms"])]
            var times: [Remedy: Duration] = [:]
            for remedy in Remedy.allCases {
                let run = try RemedyRun(remedy, objects: count)
                times[remedy] = run.time
                let milliseconds = String(format: "%.2f", run.time / .milliseconds(1))
                let numbers = [run.updatesTold, run.faultsFired, run.rowsRead].map(String.init)
                lines.append(line([remedy.rawValue, run.isRight ? "yes" : "no"] + numbers + [milliseconds]))
            }
            print((["", ""] + lines + [""]).joined(separator: "\n"))
            if let complete = times[.complete], let targeted = times[.targeted] {
                benchmark.record(ours: complete, peers: targeted)
            }
        }
    }
}

private func line(_ cells: [String]) -> String {
    cells.enumerated()
        .map { index, cell in
            let width = index == 0 ? 40 : 14
            let space = String(repeating: " ", count: max(0, width - cell.count))
            return index == 0 ? cell + space : space + cell
        }
        .joined()
}
