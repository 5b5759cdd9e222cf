import Benchmark

// The metrics, in addition to the time.

/// Ratios are in thousandths: 350 is 0.35 of the peers' time in the same run.
let ratio = BenchmarkMetric.custom("thousandths of the peers' time", useScalingFactor: false)
let ours = BenchmarkMetric.custom("ours (ms)", useScalingFactor: false)
let peers = BenchmarkMetric.custom("peers (ms)", useScalingFactor: false)
let memory = BenchmarkMetric.custom("peak memory (KiB)", useScalingFactor: false)
let hold = BenchmarkMetric.custom("write lock held (µs)", useScalingFactor: false)
let bytes = BenchmarkMetric.custom("bytes an object", useScalingFactor: false)

extension Duration {
    var milliseconds: Int { Int(self / .milliseconds(1)) }
    var microseconds: Int { Int(self / .microseconds(1)) }
}

extension Benchmark {
    /// Records our time, the peers' time, and their ratio.
    func record(ours own: Duration, peers other: Duration) {
        measurement(ratio, Int((own / other * 1000).rounded()))
        measurement(ours, own.milliseconds)
        measurement(peers, other.milliseconds)
    }
}

func time(_ body: () throws -> Void) rethrows -> Duration {
    try ContinuousClock().measure(body)
}

func configuration(_ metrics: [BenchmarkMetric], iterations: Int) -> Benchmark.Configuration {
    .init(
        metrics: metrics,
        units: [memory: .count, hold: .count, ratio: .count, bytes: .count],
        warmupIterations: 0,
        maxDuration: .seconds(600),
        maxIterations: iterations
    )
}
