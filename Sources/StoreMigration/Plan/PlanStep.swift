/// One step of a plan, for people and for `--json`.
public struct PlanStep: Hashable, Sendable, Codable, Identifiable {
    /// The actions of a share; nothing else writes to disk.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Copies the old store into the staging folder.
        case stage
        /// Migrates the copy to another model version.
        case migrate
        /// Applies the strategies to the copy: journal mode, history tables, modes and groups.
        case describe
        /// Proves the copy before publication.
        case prove
        /// Displaces sidecars without a main file.
        case moveSidecarsAside
        /// Copies the store at the destination to the displaced files.
        case copyAside
        /// Moves external files and then the main file into place, each in one step.
        case publish
        /// Replaces the content of the store at the destination in one transaction.
        case replaceContent
        /// Merges the old store's content into the new one in one transaction.
        case merge
        /// Keeps a copy of the shared content as the base of a later merge.
        case keepBase
        /// Fences the old store.
        case fence
        /// Removes a fence whose new store is missing.
        case liftFence
        /// Writes the receipt beside the new store.
        case writeReceipt
        /// Renames the withdrawn store, once no program has it open.
        case withdraw
    }

    public let action: Action
    /// The file or folder it acts on.
    public let path: String
    public var id: String { action.rawValue }

    package init(_ action: Action, path: String) {
        self.action = action
        self.path = path
    }
}
