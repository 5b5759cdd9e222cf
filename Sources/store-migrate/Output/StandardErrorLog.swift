import Logging

/// A log on standard error, one line per event.
struct StandardErrorLog: LogHandler {
    let stream: StandardStream
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        stream.write(Escaped.text("\(event.level): \(event.message)\(pairs)") + "\n")
    }
}
