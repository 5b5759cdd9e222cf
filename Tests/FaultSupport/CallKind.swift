import CFaultShim

/// The kinds of file calls that the shim tells apart.
package enum CallKind: UInt32, CaseIterable, Sendable {
    case open, create, read, look, list, write, synchronize, truncate, rename, link, remove, makeFolder, setMode
    case setOwner, close, lock, clone

    /// The kinds that change what is on the disk; between two of them it makes no difference when a process dies.
    package static let changing: Set<CallKind> = [
        .create, .write, .synchronize, .truncate, .rename, .link, .remove, .makeFolder, .setMode, .setOwner, .clone,
    ]

    package init?(shimKind: UInt8) {
        self.init(rawValue: UInt32(shimKind))
    }
}
