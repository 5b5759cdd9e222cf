import ManagedObjects
import StoreAccess
import StoreStrategies
import Synchronization

/// An app or extension that displays and changes the dummies of a store.
final class ContainerPeer: Peer {
    private let container: PersistentContainer
    private let heard = HeardCount()
    private let observation = Mutex<ChangeObservation?>(nil)
    private let saved = SavedCount()
    private let following = Mutex<Task<String, Never>?>(nil)

    /// Roles are `history`, `posts`, `read-only` and `rollback`.
    init(_ store: StoreLocation, roles: Set<String>) throws {
        var description = PersistentStoreDescription(url: store.url)
        description.isHistoryTrackingEnabled = roles.contains("history")
        description.postsRemoteChangeNotifications = roles.contains("posts")
        description.isReadOnly = roles.contains("read-only")
        if roles.contains("rollback") { description.sqlitePragmas["journal_mode"] = "delete" }
        container = PersistentContainer(name: "Peer", descriptions: [description], viewContextOn: .privateQueue)
        try container.loadPersistentStoresAndWait()
        container.viewContext.performAndWait { context in
            context.retainsRegisteredObjects = true
            context.transactionAuthor = "peer"
        }
    }

    func answer(_ words: [String]) async throws -> String {
        let (name, rest) = (words.first, Array(words.dropFirst()))
        switch name {
        case "insert", "update", "delete", "saves": return try change(words)
        // The dummies registered in the view context, with their values there.
        case "show": return try container.viewContext.performAndWait { try Self.text($0) }
        // Waits until the context contains exactly these; returns its content when following ends or after two minutes
        // without news.
        case "until":
            while true {
                let heardBefore = heard.value
                let text = try container.viewContext.performAndWait { try Self.text($0) }
                if text == rest.joined(separator: " ") { return "ok" }
                guard heard.wait(for: heardBefore + 1) else { return text }
            }
        // Waits until the context contains this one.
        case "shows":
            while true {
                let heardBefore = heard.value
                let text = try container.viewContext.performAndWait { try Self.text($0) }
                if text.split(separator: " ").contains(where: { $0 == rest.first ?? "" }) { return "ok" }
                guard heard.wait(for: heardBefore + 1) else { return text }
            }
        case "fetch":
            return try container.viewContext.performAndWait { context in
                _ = try context.fetch(FetchRequest(entityName: "TestDummy"))
                return try Self.text(context)
            }
        case "rows": return "\(container.persistentStoreCoordinator.rowsRead)"
        case "merge":
            let merge = try await container.mergeRemoteChanges(as: rest.first)
            return "\(merge.notices) \(merge.transactions) \(merge.isFullRefresh ? "full" : "-")"
        case "listen":
            let begun = container.onRemoteChange { [heard] in heard.hear() }
            observation.withLock { $0 = begun }
            return "ok"
        case "heard": return "\(heard.value)"
        case "wait": return heard.wait(for: rest.first.flatMap { Int($0) } ?? 1) ? "\(heard.value)" : "late"
        case "follow":
            let (container, heard) = (container, heard)
            let task = Task {
                do {
                    try await container.followRemoteChanges(as: rest.first) { _ in heard.hear() }
                    return "ok"
                } catch {
                    heard.end()
                    return "error \(error)"
                }
            }
            following.withLock { $0 = task }
            return "ok"
        case "unfollow":
            let task = following.withLock { $0 }
            task?.cancel()
            return await task?.value ?? "ok"
        // Saves in a background context until the program ends.
        case "work":
            let (container, saved) = (container, saved)
            Task.detached { while true { await Self.save(in: container, counting: saved) } }
            return "ok"
        case "worked": return saved.withLock { $0.failure ?? "\($0.count)" }
        case "suspend":
            await container.prepareForSuspension()
            return "ok"
        case "resume":
            container.resumeAfterSuspension()
            return "ok"
        default: throw UnknownCommand()
        }
    }

    /// The saves of `work`, and why one failed.
    private final class SavedCount: Sendable {
        struct State {
            var count = 0
            var failure: String?
        }

        private let state = Mutex(State())

        func withLock<R>(_ body: (inout State) -> R) -> R where R: Sendable { state.withLock { body(&$0) } }
    }

    private static func save(in container: PersistentContainer, counting saved: SavedCount) async {
        do {
            try await container.performBackgroundTask { context in
                var request = FetchRequest(entityName: "TestDummy")
                request.predicate = try FetchPredicate(format: "id == 1")
                guard let dummy = try context.fetch(request).first else { return }
                try dummy.setValue("\(UInt64.random(in: 0 ... .max))", forKey: "name")
                try context.save()
            }
            saved.withLock { $0.count += 1 }
        } catch let error as ManagedObjectError where error.code == .suspended {
            // A suspended program does nothing at all, so neither does the rest of this one.
            await Task.yield()
        } catch {
            saved.withLock { $0.failure = "\(error)" }
        }
    }

    private func change(_ words: [String]) throws -> String {
        guard words.count >= 2, let id = Int64(words[1]) else { throw UnknownCommand() }
        return try container.viewContext.performAndWait { context in
            if words[0] == "insert" {
                let dummy = try context.insertNewObject(forEntityName: "TestDummy")
                try dummy.setValue(id, forKey: "id")
                try dummy.setValue(words.dropFirst(2).first, forKey: "name")
                try context.save()
                return "ok"
            }
            var request = FetchRequest(entityName: "TestDummy")
            request.predicate = try FetchPredicate(format: "id == %@", words[0] == "saves" ? 1 : id)
            guard let dummy = try context.fetch(request).first else { return "gone" }
            switch words[0] {
            case "delete":
                try context.delete(dummy)
                try context.save()
            case "update":
                try dummy.setValue(words.dropFirst(2).first, forKey: "name")
                try context.save()
            default:
                for number in 0..<id {
                    try dummy.setValue("\(number)", forKey: "name")
                    try context.save()
                }
            }
            return "ok"
        }
    }

    private static func text(_ context: isolated ManagedObjectContext) throws -> String {
        try context.registeredObjects
            .map { dummy in
                let id: Int64? = try dummy.value(forKey: "id")
                let name: String? = try dummy.value(forKey: "name")
                return "\(id ?? 0)=\(name ?? "")"
            }
            .sorted().joined(separator: " ")
    }
}
