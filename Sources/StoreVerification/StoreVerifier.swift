package import SafeFiles
package import StoreFormat

/// Levels of proof that a store is sound and equals another; it changes nothing.
package struct StoreVerifier: Sendable {
    private let monitor: WorkMonitor

    package init(monitor: WorkMonitor = .silent) {
        self.monitor = monitor
    }

    /// Returns what is found at exactly one level, through a connection that the caller holds.
    ///
    /// `location` names the store as people know it; the connection may lead to a private copy of it.
    package func findings(
        in connection: StoreConnection,
        location: StoreLocation,
        externalData: Directory?,
        level: VerificationLevel
    ) throws -> [Finding] {
        switch level {
        case .files: try FileSetProof(location, connection: connection).findings()
        case .sqlite: try StructureProof(connection, monitor: monitor).findings()
        default: []
        }
    }
}
