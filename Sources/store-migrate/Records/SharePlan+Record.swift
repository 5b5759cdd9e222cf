import ChangeMerging
import FoundationEssentials
import ModelMigration
import StoreAccess
import StoreMigration
import StoreStrategies

extension SharePlan {
    /// The plan, its merge and its migration, and its findings, one object each.
    func records(_ command: (NextStep) -> String) throws -> [JSONValue] {
        let merging = merge.map { merge in
            [merge.record(into: new.path, from: old.path, nil, nil, nil)] + merge.conflicts.map(\.record)
        }
        let migrating = migration.map { migration in
            migration.mapping.changes.map(\.record) + [migration.record(of: new.path)]
        }
        return try [record(command)] + (merging ?? []) + (migrating ?? []) + findings.map(\.record)
    }

    /// The plan as an object.
    private func record(_ command: (NextStep) -> String) throws -> JSONValue {
        .object([
            ("type", .string("plan")), ("outcome", .string(outcome.rawValue)), ("reason", .string(reason)),
            ("old", .string(old.path)), ("new", .string(new.path)),
            ("steps", .array(steps.map(\.record))),
            ("descriptions", .object(try roles.map { ("\($0.role)", try JSONValue(encoding: $0.description)) })),
            ("next", .optional(next.map(command))),
        ])
    }
}

extension PlanStep {
    var record: JSONValue { .object([("action", .string(action.rawValue)), ("path", .string(path))]) }

    /// The step in words; OLD and NEW stand for the stores of `plan`.
    func text(in plan: SharePlan) -> String {
        let words =
            switch action {
            case .stage: "copy the old store into a private folder beside"
            case .migrate: "migrate the copy to another model version for"
            case .describe: "apply the strategies to the copy for"
            case .prove: "prove the copy for"
            case .moveSidecarsAside: "move aside sidecars without a main file at"
            case .copyAside: "keep a complete copy of"
            case .publish: "move the copy into place at"
            case .replaceContent: "replace the content, in one transaction, of"
            case .merge: "merge the old store, in one transaction, into"
            case .keepBase: "keep a base for late writes of"
            case .fence: "refuse writes to"
            case .liftFence: "allow writes again to"
            case .writeReceipt: "write the receipt beside"
            case .withdraw: "rename, once no process has it open,"
            }
        let place = path == plan.old.path ? "OLD" : path == plan.new.path ? "NEW" : Escaped.text(path)
        return "\(words) \(place)"
    }
}

/// The members that the summary of a share adds to the common ones.
enum ShareMembers {
    typealias Members = [(String, JSONValue)]

    /// All null: the arguments are invalid.
    static let unknown = places(old: nil, new: nil)

    /// Only the paths are known.
    static func places(old: String?, new: String?) -> Members {
        [("tx", .null), ("old", place(old)), ("new", place(new)), ("policy", .null), ("next", .null)]
    }

    /// The members of a finished run.
    static func all(_ outcome: ShareOutcome, next: String?) -> Members {
        [
            ("tx", .optional(outcome.transaction)), ("old", outcome.old?.record ?? .null),
            ("new", outcome.new?.record ?? .null), ("policy", .optional(outcome.oldStore?.rawValue)),
            ("next", .optional(next)),
        ]
    }

    /// The members of a plan.
    static func all(_ plan: SharePlan, next: String?) -> Members {
        [
            ("tx", .null), ("old", place(plan.old.path)), ("new", place(plan.new.path)),
            ("policy", .optional(plan.oldStore?.rawValue)), ("next", .optional(next)),
        ]
    }

    private static func place(_ path: String?) -> JSONValue {
        guard let path else { return .null }
        return ShareOutcome.Side(path: path, uuid: nil, objects: nil, digest: nil).record
    }
}

extension ShareOutcome.Side {
    var record: JSONValue {
        .object([
            ("path", .string(path)), ("uuid", .optional(uuid)), ("objects", .optional(objects)),
            ("digest", .optional(digest)),
        ])
    }
}

extension StatusReport {
    /// Both stores as an object.
    func record(_ command: (NextStep) -> String) -> JSONValue {
        .object([
            ("type", .string("status")), ("run", .string(run.rawValue)), ("tx", .optional(transaction)),
            ("recovery", .optional(recovery)), ("lateWrites", .string(lateWrites.rawValue)),
            ("archive", .optional(archive)),
            ("policy", .optional(policy?.rawValue)), ("old", old.record), ("new", new.record),
            ("next", .optional(next.map(command))), ("choices", .array(choices.map { .string(command($0)) })),
        ])
    }
}

extension StatusReport.Place {
    var record: JSONValue {
        .object([
            ("path", .string(path)), ("presence", .string(presence.rawValue)), ("uuid", .optional(uuid)),
            ("journalMode", .optional(journalMode?.rawValue)), ("fenced", .optional(isFenced)),
            ("holders", .array(holders.map { .integer(Int64($0)) })),
        ])
    }
}

extension StoreStrategy {
    /// The strategy's documentation as an object.
    var record: JSONValue {
        let page = documentation
        return .object([
            ("type", .string("strategy")), ("name", .string(name)), ("summary", .string(page.summary)),
            ("sets", .strings(page.sets.map(\.rawValue))), ("options", .array(page.options.map(\.record))),
            ("example", .string(page.example)), ("notApplicable", .string(page.notApplicable)),
            ("forApplePlatforms", .bool(page.isForApplePlatforms)),
        ])
    }
}

extension StrategyDocumentation.Option {
    fileprivate var record: JSONValue {
        .object([
            ("name", .string(name)), ("summary", .string(summary)), ("default", .optional(defaultValue)),
            ("values", .strings(values)),
        ])
    }
}

extension RoleDescription {
    /// A strategy's answer for this role, as an object.
    func record(_ strategy: String) throws -> JSONValue {
        let changes = applied.first?.changes
        return .object([
            ("type", .string("answer")), ("strategy", .string(strategy)), ("role", .string(role.description)),
            ("applies", .bool(changes != nil)), ("reason", .optional(skipped.first?.reason)),
            ("changes", try changes.map { try JSONValue(encoding: $0) } ?? .object([])),
        ])
    }
}
