import FoundationEssentials
import StoreFormat

extension ChangeNotice.Content {
    /// A notice with more objects than this says that everything is to be refreshed, so that none outgrows a page cache.
    static let mostObjects = 10_000
    /// No notice of ours is longer; what is longer was not written by us.
    static let mostBytes = 16 << 20

    /// The content as it lies in the queue.
    ///
    /// A later version may add members and kinds; what it does not know, a reader takes for `everything`, which is always
    /// right.
    private struct Stored: Codable {
        var objects: [String: [String]]?
        var history: Int64?
    }

    /// The same content, as small as a notice has to be.
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

    /// Sets of unknown names and addresses that are none are left out; what is no content at all reads as `everything`.
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
