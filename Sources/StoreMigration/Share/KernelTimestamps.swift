import SafeFiles

/// How finely this kernel stamps files.
enum KernelTimestamps {
    static let areFine = KernelRelease.current?.hasFineTimestamps ?? false

    /// The seconds between two timestamps where they are coarse; never taken for less than a fast machine's tick.
    static let tick = max(0.004, KernelRelease.timestampTick ?? 0.025)
}
