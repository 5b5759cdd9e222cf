import StoreFormat

/// One dictionary of the archived array: the changes of one save.
struct LegacyPayload {
    /// The names of the sets in Core Data's notifications, with objects and with object IDs.
    private static let changes: [String: ChangeNotice.Change] = {
        var result: [String: ChangeNotice.Change] = [:]
        for change in ChangeNotice.Change.allCases {
            result[change.rawValue] = change
            result[change.rawValue + "_objectIDs"] = change
        }
        return result
    }()
    /// The sets that invalidate all objects.
    private static let allInvalidated: Set<String> = ["invalidatedAll", "invalidatedAll_objectIDs"]
    private static let mostPayloads = 100_000

    let content: ChangeNotice.Content
    /// The stores that the addresses name.
    var stores: Set<String> {
        guard case .objects(let sets) = content else { return [] }
        return Set(sets.values.joined().map { $0.storeUUID.uppercased() })
    }
    /// True if no address could be read, and no set stands for all objects.
    var isEmpty: Bool {
        guard case .objects(let sets) = content else { return false }
        return sets.values.allSatisfy(\.isEmpty)
    }
    /// The names of unknown sets.
    let unknownKeys: [String]
    /// The number of malformed addresses.
    let rubbish: Int
    /// All its content in order, as input of the digest.
    let texts: [String]

    /// Reads the array, archived or stored directly in the file.
    static func all(in value: PropertyListValue) throws -> [LegacyPayload] {
        let reader: KeyedArchiveReader?
        let elements: [PropertyListValue]?
        if case .data(let bytes) = value {
            let archive = try KeyedArchiveReader(PropertyListReader.value(from: bytes))
            elements = archive.topElements()
            reader = archive
        } else if case .array(let members) = value {
            elements = members
            reader = nil
        } else {
            elements = nil
            reader = nil
        }
        guard let elements, elements.count <= mostPayloads else {
            throw UndecodableData("the value is not an array of changes")
        }
        return try elements.map { try LegacyPayload($0, reader) }
    }

    private init(_ value: PropertyListValue, _ reader: KeyedArchiveReader?) throws {
        let sets: [String: PropertyListValue]?
        if let reader {
            sets = reader.dictionary(value)
        } else if case .dictionary(let members) = value {
            sets = members
        } else {
            sets = nil
        }
        guard let sets else { throw UndecodableData("an element of the array is not a dictionary") }
        var objects: [ChangeNotice.Change: [ObjectURI]] = [:]
        var (unknown, texts, rubbish, refreshesAll) = ([String](), [String](), 0, false)
        for (name, members) in sets.sorted(by: { $0.key < $1.key }) {
            texts.append(name)
            if Self.allInvalidated.contains(name) {
                refreshesAll = true
                continue
            }
            guard let change = Self.changes[name] else {
                unknown.append(name)
                continue
            }
            for member in Self.members(members, reader) {
                let text = Self.address(member, reader)
                texts.append(text ?? "")
                if let text, let uri = try? ObjectURI(text) {
                    objects[change, default: []].append(uri)
                } else {
                    rubbish += 1
                }
            }
        }
        content = refreshesAll ? .everything : .objects(objects)
        unknownKeys = unknown
        self.rubbish = rubbish
        self.texts = texts
    }

    private static func members(_ value: PropertyListValue, _ reader: KeyedArchiveReader?) -> [PropertyListValue] {
        if let reader { return reader.elements(value) ?? [] }
        if case .array(let members) = value { return members }
        return []
    }

    /// The text of an archived URL, or of a plain string.
    private static func address(_ value: PropertyListValue, _ reader: KeyedArchiveReader?) -> String? {
        guard let reader else {
            if case .string(let text) = value { return text }
            return nil
        }
        guard let object = reader.object(value), object.className == "NSURL" else { return reader.string(value) }
        let base = reader.object(object.fields["NS.base"]).flatMap { reader.string($0.fields["NS.relative"]) } ?? ""
        return reader.string(object.fields["NS.relative"]).map { base + $0 }
    }
}

extension KeyedArchiveReader {
    /// The members of the archived collection at the top.
    fileprivate func topElements() -> [PropertyListValue]? {
        topObject().flatMap { elements(.uid($0.index)) }
    }
}
