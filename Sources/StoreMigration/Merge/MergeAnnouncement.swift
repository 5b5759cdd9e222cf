import ChangeRelay
import SafeFiles
import StoreFormat

/// Notifies programs that have the merged store open.
struct MergeAnnouncement {
    private let store: StoreLocation
    private let epoch: String
    private let number: Int64

    /// `number` distinguishes the events of one merge.
    init(_ store: StoreLocation, epoch: String, number: Int64 = 1) {
        self.store = store
        self.epoch = epoch
        self.number = number
    }

    /// Posts to an existing relay and wake file; creates neither.
    ///
    /// Idempotent: the relay keeps each key once.
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
                    "posting the merge's change notice failed, so every program should refresh all it shows: \(error)",
                    path: store.path
                )
            ]
        }
    }
}
