import ChangeMerging
import StoreFormat

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
