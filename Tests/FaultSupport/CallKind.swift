import CFaultShim

/// The kinds of file calls that the shim distinguishes.
package enum CallKind: UInt32, CaseIterable, Sendable {
    case open, create, read, look, list, write, synchronize, truncate, rename, link, remove, makeFolder, setMode
    case setOwner, close, lock, clone

    /// The kinds that change the disk; a kill anywhere between two of them has the same effect.
    package static let changing: Set<CallKind> = [
        .create, .write, .synchronize, .truncate, .rename, .link, .remove, .makeFolder, .setMode, .setOwner, .clone,
    ]

    package init?(shimKind: UInt8) {
        self.init(rawValue: UInt32(shimKind))
    }
}
