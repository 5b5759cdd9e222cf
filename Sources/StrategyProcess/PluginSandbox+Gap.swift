extension PluginSandbox {
    /// Something that the sandbox denies a plugin, and that some kernels cannot deny.
    public enum Gap: String, Sendable, Codable, CaseIterable {
        /// Every file except its own and the system's: Landlock 1.
        case files
        /// The length of files that it may read: Landlock 3, or the system call filter.
        case truncation
        /// Sockets of every kind: the system call filter. Landlock 4 has TCP alone.
        case network
        /// The controls of devices: Landlock 5, or the system call filter.
        case devices
        /// Signals to processes that it did not start: Landlock 6, or the system call filter.
        case signals
        /// The modes, owners and times of files: the system call filter.
        case attributes
        /// Leaving the process group in which it is ended: the system call filter.
        case processGroup
    }
}

extension PluginSandbox.Gap: CustomStringConvertible {
    /// A fragment that can follow "cannot keep it from".
    public var description: String {
        switch self {
        case .files: "files (Landlock)"
        case .truncation: "cutting files that it may read"
        case .network: "the network"
        case .devices: "the controls of devices"
        case .signals: "sending signals"
        case .attributes: "the modes and times of files"
        case .processGroup: "leaving the processes that are ended with it"
        }
    }
}

extension [PluginSandbox.Gap] {
    /// All gaps in one fragment.
    var text: String { map(\.description).joined(separator: ", ") }
}
