import FoundationEssentials

/// Programs that some tests need.
enum ToolLocation {
    /// The path of strace, where it is installed.
    static let strace = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        .map { "\($0)/strace" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}
