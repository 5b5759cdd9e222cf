import ChangeRelay
import SafeFiles
import StoreFormat

/// Tells programs that have the merged store open that its content has changed.
struct MergeAnnouncement {
    private let store: StoreLocation
    private let epoch: String
    private let number: Int64

    /// The first thing that happened with a merge, or another.
    init(_ store: StoreLocation, epoch: String, number: Int64 = 1) {
        self.store = store
        self.epoch = epoch
        self.number = number
    }

    /// Posts where programs listen; nothing is made where nobody does.
    ///
    /// The same is announced once, however often this is called.
    func post() -> [Finding] {
        do {
            let folder = try Directory.open(path: store.folder)
            if let queue = try RelayQueue.existing(beside: store) {
                try queue.post(
                    ChangeNotice(
                        key: .init(writer: "store-migrate-\(epoch)", number: number),
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
