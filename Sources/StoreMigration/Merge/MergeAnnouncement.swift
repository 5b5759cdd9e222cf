import ChangeRelay
import SafeFiles
import StoreFormat

/// Tells programs that have the merged store open that its content has changed.
struct MergeAnnouncement {
    private let store: StoreLocation
    private let epoch: String

    init(_ store: StoreLocation, epoch: String) {
        self.store = store
        self.epoch = epoch
    }

    /// Posts where programs listen; nothing is made where nobody does.
    ///
    /// The same merge is announced once, however often this is called.
    func post() -> [Finding] {
        do {
            let folder = try Directory.open(path: store.folder)
            if let queue = try RelayQueue.existing(beside: store) {
                try queue.post(
                    ChangeNotice(
                        key: .init(writer: "store-migrate-\(epoch)", number: 1),
                        author: "store-migrate",
                        content: .everything
                    )
                )
            }
            if try folder.status(of: RemoteChangeNotification.name(for: store.name)) != nil {
                try RemoteChangeNotification(beside: store).post()
            }
            return []
        } catch {
            return [
                Finding(
                    .relayNotCarried,
                    .warning,
                    level: .merging,
                    "nobody was told of the merge, so every program should refresh all it shows: \(error)",
                    path: store.path
                )
            ]
        }
    }
}
