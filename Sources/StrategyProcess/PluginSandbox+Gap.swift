extension PluginSandbox {
    /// Something that a plugin is to be kept from, and that a kernel may be unable to keep it from.
    public enum Gap: String, Sendable, Codable, CaseIterable {
        /// Every file but its own and the system's: Landlock 1.
        case files
        /// The length of files that it may read: Landlock 3, or the filter of calls.
        case truncation
        /// Every socket of whatever kind: the filter of calls. Landlock 4 has TCP alone.
        case network
        /// The controls of devices: Landlock 5, or the filter of calls.
        case devices
        /// Signals to processes that it did not start: Landlock 6, or the filter of calls.
        case signals
        /// The modes, owners and times of files: the filter of calls.
        case attributes
        /// The group in which it is ended: the filter of calls.
        case processGroup
    }
}

extension PluginSandbox.Gap: CustomStringConvertible {
    /// What it is about, as it can stand after "cannot keep it from".
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
    /// All of them in one fragment.
    var text: String { map(\.description).joined(separator: ", ") }
}
