/// What a share writes; a run carries it out, and the plan's steps are derived from it.
package enum ShareWork: Hashable, Sendable {
    /// Publishes a copy of the old store at a free path.
    case publish(liftsFence: Bool)
    /// Replaces the content of the store at the new path with a copy of the old one.
    case replaceContent(liftsFence: Bool)
    /// Merges the old store into the new one.
    case merge
    /// Copies nothing: treats the old store, and records the run.
    case protect(Protection)

    /// A run without a copy.
    package struct Protection: Hashable, Sendable {
        /// The content of the old store that the decision relies on.
        package enum Content: Hashable, Sendable {
            /// The caller decided that the new store is kept, even if the old one has rows.
            case any
            case empty
            case equalToNew
            /// The content with the digest that an earlier run recorded.
            case unchanged(String)
        }

        let content: Content
        /// True when the old store refuses writes afterwards.
        let isFenced: Bool
        /// True when the new store never received the old one's content.
        let keepsNew: Bool
        /// True when the old store has rows that the new one lacks.
        let leavesRows: Bool

        /// True when the stores have a common state, so that a captured old store keeps it as the base of late writes.
        var hasCommonState: Bool { content == .equalToNew || content == .empty }
    }

    /// True when the old store is copied.
    var copies: Bool {
        switch self {
        case .publish, .replaceContent: true
        case .merge, .protect: false
        }
    }

    /// True when an existing store at the new path is written to.
    var changesNewStore: Bool {
        switch self {
        case .replaceContent, .merge: true
        case .publish, .protect: false
        }
    }

    /// True when a fence of the old store is removed before it is copied.
    var liftsFence: Bool {
        switch self {
        case .publish(let liftsFence), .replaceContent(let liftsFence): liftsFence
        case .merge, .protect: false
        }
    }

    /// True when the old store refuses writes afterwards, under the caller's treatment of it.
    func fences(_ treatment: ShareOptions.OldStorePolicy) -> Bool {
        switch self {
        case .publish, .replaceContent, .merge: treatment == .fence
        case .protect(let protection): protection.isFenced
        }
    }

    /// The actions in order.
    ///
    /// `displacesSidecars` is true when the new path has sidecars without a main file.
    func actions(_ treatment: ShareOptions.OldStorePolicy, displacesSidecars: Bool) -> [PlanStep.Action] {
        let copying: [PlanStep.Action] = (liftsFence ? [.liftFence] : []) + [.stage, .prove]
        let closing: [PlanStep.Action] = [fences(treatment) ? .fence : .keepBase, .writeReceipt]
        return switch self {
        case .publish: copying + (displacesSidecars ? [.moveSidecarsAside] : []) + [.publish] + closing
        case .replaceContent: copying + [.copyAside, .replaceContent] + closing
        case .merge: (fences(treatment) ? [.fence] : []) + [.merge, .keepBase, .writeReceipt]
        case .protect(let protection):
            (fences(treatment) ? [.fence] : protection.hasCommonState ? [.keepBase] : []) + [.writeReceipt]
        }
    }
}

extension PlanStep.Action {
    /// True for an action on the old store; the others act on the new one.
    var isOnOldStore: Bool { [.fence, .liftFence, .keepBase].contains(self) }
}
