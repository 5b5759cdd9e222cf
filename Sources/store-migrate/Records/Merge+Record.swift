import ChangeMerging
import StoreFormat
import StoreMigration

extension MergeSummary {
    /// The merge as an object; conflicts are separate objects.
    func record(into: String, from: String, _ outcome: StoreMergeOutcome) -> JSONValue {
        record(into: into, from: from, outcome.epoch, outcome.parkedRows, outcome.rekeyedObjects)
    }

    func record(into: String, from: String, _ epoch: String?, _ parkedRows: String?, _ rekeyedObjects: String?)
        -> JSONValue
    {
        let amounts: [(String, Int)] = [
            ("inserted", inserted), ("restored", restored), ("updated", updated), ("deleted", deleted),
            ("connected", connected), ("parted", parted), ("reordered", reordered), ("joined", joined),
            ("rekeyed", rekeyed), ("parked", parked), ("conflicts", conflicts.count),
        ]
        return .object(
            [
                ("type", .string("merge")), ("into", .string(into)), ("from", .string(from)),
                ("epoch", .optional(epoch)), ("policy", .optional(policy.map(\.argument))),
                (
                    "policies",
                    .object(
                        (policies ?? [:]).sorted { $0.key < $1.key }
                            .map { ($0.key, .string($0.value.argument)) }
                    )
                ),
            ] + amounts.map { ($0.0, .integer(Int64($0.1))) } + [
                ("parkedRows", .optional(parkedRows)), ("rekeyedObjects", .optional(rekeyedObjects)),
                (
                    "entities",
                    .array(
                        entities.sorted { $0.key < $1.key }
                            .map { name, counts in
                                .object([
                                    ("name", .string(name)), ("inserted", .integer(Int64(counts.inserted))),
                                    ("restored", .integer(Int64(counts.restored))),
                                    ("updated", .integer(Int64(counts.updated))),
                                    ("deleted", .integer(Int64(counts.deleted))),
                                ])
                            }
                    )
                ),
                ("notes", .array(notes.map(\.record))),
            ]
        )
    }
}

extension MergeNote {
    fileprivate var record: JSONValue {
        .object([
            ("kind", .string(kind.rawValue)), ("entity", .string(entity)), ("property", .optional(property)),
            ("count", .integer(Int64(count))),
        ])
    }
}

extension StoreMergeConflict {
    /// One resolved conflict, as an object.
    var record: JSONValue {
        .object([
            ("type", .string("conflict")), ("entity", .string(entity)), ("key", .strings(key.map(\.text))),
            ("property", .optional(property)), ("reason", .string(reason.rawValue)),
            ("base", base?.record ?? .null), ("old", old.record), ("shared", shared.record),
            ("taken", .string(taken.name)), ("given", given?.record ?? .null),
            ("decidedBy", .string(isResolved ? "resolver" : "policy")),
        ])
    }
}

extension StoreMergeConflict.Resolution {
    /// The word for what is taken.
    var name: String {
        switch self {
        case .old: "old"
        case .shared: "shared"
        case .value: "value"
        }
    }
}

extension StoreMergeConflict {
    /// The value of neither store, which a resolver gave.
    var given: State? { if case .value(let value) = taken { .value(value) } else { nil } }
}

extension StoreMergeConflict.State {
    /// The state on one side, as an object.
    var record: JSONValue {
        let (kind, text): (String, String?) =
            switch self {
            case .value(let value): ("value", value == .null ? nil : value.text)
            case .large(let count): ("large", String(count))
            case .partner(let key): ("partner", key.map { String($0) })
            case .deleted: ("deleted", nil)
            case .present: ("present", nil)
            }
        return .object([("kind", .string(kind)), ("text", .optional(text))])
    }
}

extension ObjectDifference {
    /// The difference as an object.
    var record: JSONValue {
        .object([
            ("type", .string("difference")), ("side", .optional(side?.rawValue)), ("entity", .string(entity)),
            ("key", .strings(key.map(\.text))), ("uri", .optional(address?.description)),
            ("change", .string(kind.rawValue)), ("properties", .array(properties.map(\.record))),
        ])
    }
}

extension ObjectDifference.Property {
    fileprivate var record: JSONValue {
        let states = [("before", before), ("after", after)]
            .compactMap { name, state in state.map { (name, $0.record) } }
        return .object(
            [("name", .string(name))] + states + [
                ("added", .array(added.map(JSONValue.integer))), ("removed", .array(removed.map(JSONValue.integer))),
                ("reordered", .bool(isReordered)),
            ]
        )
    }
}

extension DifferenceSummary {
    /// The summary as an object; conflicts are separate objects.
    func record(_ first: String, _ second: String, base: String?) -> JSONValue {
        let sides: [(String?, [String: Counts])] =
            base == nil ? [(nil, self.second)] : [("first", self.first), ("second", self.second)]
        return .object([
            ("type", .string("comparison")), ("first", .string(first)), ("second", .string(second)),
            ("base", .optional(base)), ("equal", .bool(isEqual)), ("conflicts", .integer(Int64(conflicts.count))),
            ("definitions", .strings(definitions)), ("tables", .strings(tables)),
            ("refusals", .strings(refusals.map(\.description))),
            (
                "entities",
                .array(
                    sides.flatMap { side, counts in
                        counts.sorted { $0.key < $1.key }
                            .map { name, counts in
                                .object([
                                    ("name", .string(name)), ("side", .optional(side)),
                                    ("inserted", .integer(Int64(counts.inserted))),
                                    ("updated", .integer(Int64(counts.updated))),
                                    ("deleted", .integer(Int64(counts.deleted))),
                                ])
                            }
                    }
                )
            ),
        ])
    }
}
