internal import SafeFiles
internal import StoreFormat

/// Read access without a coordinator: changes nothing, and each view is one snapshot of the store.
struct StoreReading: Sendable {
    private let reader: StoreReader
    private let monitor: WorkMonitor

    init(lockTimeout: Duration, allowsNetworkFileSystem: Bool, isCancelled: (@Sendable () -> Bool)?) {
        monitor = WorkMonitor(onProgress: nil, isCancelled: isCancelled)
        reader = StoreReader(
            lockTimeout: lockTimeout,
            allowsNetworkFileSystem: allowsNetworkFileSystem,
            monitor: monitor
        )
    }

    func withView<R>(of location: StoreLocation, _ body: (StoreView) throws -> R) throws -> R {
        try reader.withView(of: location, body)
    }

    func checkCancellation() throws { try monitor.checkCancellation() }
}
