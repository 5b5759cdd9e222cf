import SafeFiles

/// How finely this kernel stamps files.
enum KernelTimestamps {
    /// True from Linux 6.13 on, where a file that somebody looked at gets a new timestamp at every change.
    static let areFine: Bool = {
        guard let release = KernelRelease.current else { return false }
        return (release.major, release.minor) >= (6, 13)
    }()
}
