import SafeFiles

/// How finely this kernel stamps files.
enum KernelTimestamps {
    static let areFine = KernelRelease.current?.hasFineTimestamps ?? false
}
