/// A record as an object with one member, the kind, whose value has the members of that kind.
///
/// This is the form that the compiler would generate. The generated code has a type of keys for each kind, and Swift
/// searches all conformances of the program for each of them when a process reads its first record.
extension JournalRecord: Codable {
    private enum Kind: String, CodingKey {
        case begin, nest, aside, publishing, replacing, published, fenced, proved, done, renewed, choosing, base,
            merging
        case merged, unmerged, voided, unsharing, unshared, unfenced, rolledBack, restored, migrated, archived, retiring
        case retired, removed
    }

    private enum Member: String, CodingKey {
        case value = "_0"
        case digest, epoch, because, transaction, to, isLogged
    }

    package init(from decoder: any Decoder) throws {
        let record = try decoder.container(keyedBy: Kind.self)
        guard let kind = record.allKeys.first, record.allKeys.count == 1 else {
            let reason = "a record has exactly one known kind"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
        }
        let members = try record.nestedContainer(keyedBy: Member.self, forKey: kind)
        func member<Value: Decodable>(_ name: Member) throws -> Value { try members.decode(Value.self, forKey: name) }
        self =
            switch kind {
            case .begin: .begin(try member(.value))
            case .nest: .nest(try member(.value))
            case .aside: .aside(try member(.value))
            case .publishing: .publishing(try member(.value))
            case .replacing: .replacing(try member(.value))
            case .published: .published(try member(.value))
            case .fenced: .fenced
            case .proved: .proved(digest: try member(.digest))
            case .done: .done(try member(.value))
            case .renewed: .renewed(try member(.value))
            case .choosing: .choosing(try member(.value))
            case .base: .base(try member(.value))
            case .merging: .merging(try member(.value))
            case .merged: .merged(epoch: try member(.epoch))
            case .unmerged: .unmerged(epoch: try member(.epoch))
            case .voided: .voided(because: try member(.because))
            case .unsharing: .unsharing(transaction: try member(.transaction))
            case .unshared: .unshared
            case .unfenced: .unfenced
            case .rolledBack: .rolledBack
            case .restored: .restored
            case .migrated: .migrated
            case .archived: .archived(try member(.value))
            case .retiring:
                .retiring(to: try member(.to), isLogged: try members.decodeIfPresent(Bool.self, forKey: .isLogged))
            case .retired: .retired(to: try member(.to))
            case .removed: .removed
            }
    }

    package func encode(to encoder: any Encoder) throws {
        var record = encoder.container(keyedBy: Kind.self)
        func write(_ kind: Kind, _ value: some Encodable, as name: Member = .value) throws {
            var members = record.nestedContainer(keyedBy: Member.self, forKey: kind)
            try members.encode(value, forKey: name)
        }
        func write(_ kind: Kind) { _ = record.nestedContainer(keyedBy: Member.self, forKey: kind) }
        switch self {
        case .begin(let run): try write(.begin, run)
        case .nest(let folder): try write(.nest, folder)
        case .aside(let folder): try write(.aside, folder)
        case .publishing(let copy): try write(.publishing, copy)
        case .replacing(let replacement): try write(.replacing, replacement)
        case .published(let file): try write(.published, file)
        case .fenced: write(.fenced)
        case .proved(let digest): try write(.proved, digest, as: .digest)
        case .done(let completion): try write(.done, completion)
        case .renewed(let state): try write(.renewed, state)
        case .choosing(let settings): try write(.choosing, settings)
        case .base(let file): try write(.base, file)
        case .merging(let merging): try write(.merging, merging)
        case .merged(let epoch): try write(.merged, epoch, as: .epoch)
        case .unmerged(let epoch): try write(.unmerged, epoch, as: .epoch)
        case .voided(let reason): try write(.voided, reason, as: .because)
        case .unsharing(let transaction): try write(.unsharing, transaction, as: .transaction)
        case .unshared: write(.unshared)
        case .unfenced: write(.unfenced)
        case .rolledBack: write(.rolledBack)
        case .restored: write(.restored)
        case .migrated: write(.migrated)
        case .archived(let archive): try write(.archived, archive)
        case .retiring(let name, let isLogged):
            var members = record.nestedContainer(keyedBy: Member.self, forKey: .retiring)
            try members.encode(name, forKey: .to)
            try members.encodeIfPresent(isLogged, forKey: .isLogged)
        case .retired(let name): try write(.retired, name, as: .to)
        case .removed: write(.removed)
        }
    }
}
