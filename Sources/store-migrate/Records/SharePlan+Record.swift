import FoundationEssentials
import StoreFormat
import StoreMigration
import StoreStrategies

extension SharePlan {
    /// The plan as an object.
    func record(_ command: (NextStep) -> String) throws -> JSONValue {
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

    /// The step in words.
    var text: String {
        let words =
            switch action {
            case .stage: "copy the old store into a private folder beside"
            case .describe: "make what strategies say of the copy for"
            case .prove: "prove the copy that is to stand at"
            case .moveSidecarsAside: "move sidecars without a main file aside at"
            case .copyAside: "keep a whole copy of"
            case .publish: "move the copy into place at"
            case .replaceContent: "replace the content, in one transaction, of"
            case .merge: "merge what the old store holds, in one transaction, into"
            case .keepBase: "keep a base for late writes of"
            case .fence: "refuse writers of"
            case .liftFence: "let writers again into"
            case .writeReceipt: "write the receipt beside"
            case .withdraw: "give another name, once no program has it open, to"
            }
        return "\(words) \(Escaped.text(path))"
    }
}
