internal import ChangeRelay
internal import SafeFiles
internal import StoreFormat

extension AttachedStore {
    /// Begins the notice of a save that is written and about to be committed; a save that changed no row makes no
    /// commit.
    func beginPosting(_ outcome: SaveOutcome, author: String?, since rows: Int64, _ connection: StoreConnection) {
        func uris(_ ids: Set<ManagedObjectID>) -> [ObjectURI] { ids.sorted().compactMap(\.objectURI) }
        beginPosting(author: author, since: rows, connection) {
            let sets: [ChangeNotice.Change: [ObjectURI]] = [
                .inserted: uris(outcome.inserted), .updated: uris(outcome.updated), .deleted: uris(outcome.deleted),
            ]
            return .objects(sets.filter { !$0.value.isEmpty })
        }
    }

    /// Begins the notice of changes without object IDs: it refers to history, or asks for a full refresh.
    func beginPostingUnnamed(author: String?, since rows: Int64, _ connection: StoreConnection) {
        beginPosting(author: author, since: rows, connection) { .everything }
    }

    /// Runs `body` in a transaction that changes no object, and posts a notice without objects for its commit.
    func keepBooks<R>(_ connection: StoreConnection, _ body: () throws -> R) throws -> R {
        defer { poster?.abandon() }
        let rows = try connection.rowsChanged()
        let result = try connection.inTransaction(until: Deadline(after: lockTimeout)) {
            let result = try body()
            if let poster, try connection.rowsChanged() > rows {
                poster.begin(.objects([:]), author: nil, commit: (try? connection.commitCount())?.next)
            }
            return result
        }
        poster?.finish(nil, wakes: false)
        return result
    }

    private func beginPosting(
        author: String?,
        since rows: Int64,
        _ connection: StoreConnection,
        _ content: () -> ChangeNotice.Content
    ) {
        // A failure here must not fail the save.
        guard let poster, let changed = try? connection.rowsChanged(), changed > rows else { return }
        let commit = (try? connection.commitCount())?.next
        guard recordsHistory, let transaction = try? lastTransaction(connection) else {
            poster.begin(content(), author: author, commit: commit)
            return
        }
        poster.begin(.history(through: transaction), author: author, commit: commit)
    }
}
