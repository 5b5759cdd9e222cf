package import ChangeMerging

/// What the caller chose for a pair: later runs keep it until the caller chooses again.
///
/// The journal records it. The receipt does so too, for a share with another state folder and for a share after an unshare,
/// which find no journal. A forged receipt can only leave the old store writable, whose late writes are then found.
package struct PairChoices: Hashable, Sendable, Codable {
    /// The treatment of the old store.
    package var oldStore: ShareOptions.OldStorePolicy
    /// How late writes are merged; nil for the defaults.
    package var merging: MergeSettings?

    package init(oldStore: ShareOptions.OldStorePolicy, merging: MergeSettings? = nil) {
        self.oldStore = oldStore
        self.merging = merging
    }
}
