import SafeFiles

/// The resolution of this kernel's file timestamps.
enum KernelTimestamps {
    static let areFine = KernelRelease.current?.hasFineTimestamps ?? false

    /// The seconds between two coarse timestamps; at least the tick of a fast machine.
    static let tick = max(0.004, KernelRelease.timestampTick ?? 0.025)
}
