internal import StoreAccess

/// Tests that a resolver keeps its contract, in one line of any test framework.
///
/// ```swift
/// try await ConflictResolverComplianceTest(ConflictResolver(program)).run()
/// ```
///
/// It asks about conflicts of every kind, together, one by one, in reverse and again. Equal conflicts must get equal
/// decisions, each conflict one, and only properties that accept a value get one, of their own kind. All violations are
/// thrown as one ``Failure``.
public struct ConflictResolverComplianceTest: Sendable {
    /// What a resolver did against its contract.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        public fileprivate(set) var violations: [String] = []

        public var description: String { "the resolver " + violations.joined(separator: "; it ") }
    }

    private let resolver: ConflictResolver

    public init(_ resolver: ConflictResolver) { self.resolver = resolver }

    /// Runs the test; `conflicts` are asked beside the samples, such as those of a merge that was planned.
    ///
    /// Throws ``Failure``, or the error of the resolver.
    public func run(on conflicts: [StoreMergeConflict] = []) async throws {
        let conflicts = Self.samples + conflicts
        var failure = Failure()
        let together = try await resolver.resolve(conflicts)
        guard together.count == conflicts.count else {
            failure.violations.append("decides \(together.count) of \(conflicts.count) conflicts")
            throw failure
        }
        for (conflict, resolution) in zip(conflicts, together) where conflict.permitted(resolution) == nil {
            failure.violations.append(
                conflict.acceptsValue
                    ? "gives \(conflict.name) a value of another kind" : "gives \(conflict.name) a value"
            )
        }
        if try await resolver.resolve(conflicts) != together {
            failure.violations.append("decides otherwise when it is asked again")
        }
        if try await resolver.resolve(conflicts.reversed()) != together.reversed() {
            failure.violations.append("decides otherwise when conflicts come in another order")
        }
        var alone: [StoreMergeConflict.Resolution] = []
        for conflict in conflicts { alone += try await resolver.resolve([conflict]) }
        if alone != together { failure.violations.append("decides otherwise about a conflict that comes alone") }
        if !failure.violations.isEmpty { throw failure }
    }

    /// A conflict of every kind.
    private static let samples: [StoreMergeConflict] = {
        let values: [(StoredValue, StoredValue, StoredValue)] = [
            (.text(SQLText("base")), .text(SQLText("old")), .text(SQLText("shared"))),
            (.integer(1), .integer(2), .integer(Int64.max)), (.real(1.5), .real(-2), .real(.infinity)),
            (.null, .bytes([1, 2]), .bytes([])), (.text(SQLText("base")), .null, .text(SQLText("\u{1}\n\"ü"))),
        ]
        let changed = values.map { base, old, shared in
            StoreMergeConflict(
                entity: "Entity",
                primaryKey: 1,
                property: "attribute",
                reason: .bothChanged,
                base: .value(base),
                old: .value(old),
                shared: .value(shared),
                taken: .shared,
                acceptsValue: true
            )
        }
        func other(
            _ property: String?,
            _ reason: StoreMergeConflict.Reason,
            _ old: StoreMergeConflict.State,
            _ shared: StoreMergeConflict.State
        ) -> StoreMergeConflict {
            StoreMergeConflict(
                entity: "Entity",
                key: [.text(SQLText("a")), .integer(2)],
                property: property,
                reason: reason,
                base: nil,
                old: old,
                shared: shared,
                taken: .old
            )
        }
        return changed + [
            other("large", .bothChanged, .large(2000), .large(3000)),
            other("relationship", .bothChanged, .partner(4), .partner(nil)),
            other(nil, .editedAndDeleted, .present, .deleted), other(nil, .editedAndDeleted, .deleted, .present),
        ]
    }()
}
