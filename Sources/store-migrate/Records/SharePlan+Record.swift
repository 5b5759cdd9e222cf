import ChangeMerging
import FoundationEssentials
import ModelMigration
import StoreFormat
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
