/// One step of a plan, as data; the journal names steps by their identifier.
public struct PlanStep: Hashable, Sendable, Codable, Identifiable {
    /// The things a share can do; nothing else touches the disk.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Copies the old store into a private folder of the container.
        case stage
        /// Makes the copy what strategies say: its journal mode, the tables of a history, modes and groups.
        case describe
        /// Proves the copy before anybody can see it.
        case prove
        /// Moves sidecars that belong to no main file aside.
        case moveSidecarsAside
        /// Copies the store at the destination aside, whole.
        case copyAside
        /// Moves external files and then the main file into place, each in one step.
        case publish
        /// Replaces the content of the store at the destination in one transaction.
        case replaceContent
        /// Merges the old store's content into the new one in one transaction.
        case merge
        /// Keeps a copy of what was shared as the base of a later merge.
        case keepBase
        /// Sets the triggers that refuse writers of the old store.
        case fence
        /// Removes a fence whose new store is gone.
        case liftFence
        /// Writes the receipt beside the new store.
        case writeReceipt
        /// Renames the store that is out of use, once no program has it open.
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
