import FoundationEssentials
import StoreFormat

extension ChangeNotice.Content {
    /// A notice with more objects asks for a full refresh instead, so that no notice outgrows SQLite's page cache.
    static let mostObjects = 10_000
    /// The longest content that this version writes.
    ///
    /// Longer content was not written by this library.
    static let mostBytes = 16 << 20

    /// The content as stored in the queue.
    ///
    /// Later versions may add members and kinds. A reader decodes unknown kinds as `everything`, which is always
    /// correct.
    private struct Stored: Codable {
        var objects: [String: [String]]?
        var history: Int64?
    }

    /// This content, or `everything` when it has too many objects.
    var bounded: Self {
        guard case .objects(let sets) = self, sets.values.reduce(0, { $0 + $1.count }) > Self.mostObjects else {
            return self
        }
        return .everything
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let stored =
            switch self {
            case .objects(let sets):
                Stored(objects: Dictionary(uniqueKeysWithValues: sets.map { ($0.rawValue, $1.map(\.description)) }))
            case .history(let transaction): Stored(history: transaction)
            case .everything: Stored()
            }
        return [UInt8](try encoder.encode(stored))
    }

    /// Drops unknown sets and malformed addresses.
    ///
    /// Undecodable content becomes `everything`.
    init(decoding bytes: [UInt8]) {
        guard bytes.count <= Self.mostBytes,
            let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes))
        else {
            self = .everything
            return
        }
        if let transaction = stored.history {
            self = .history(through: transaction)
        } else if let sets = stored.objects {
            var objects: [ChangeNotice.Change: [ObjectURI]] = [:]
            for (name, addresses) in sets {
                guard let change = ChangeNotice.Change(rawValue: name) else { continue }
                objects[change] = addresses.compactMap { try? ObjectURI($0) }
            }
            self = .objects(objects)
        } else {
            self = .everything
        }
    }
}
