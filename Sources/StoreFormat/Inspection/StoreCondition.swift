/// What an inspection found at one place.
///
/// "Unreadable" and "orphan" are never taken for "absent".
public enum StoreCondition: Sendable {
    /// Nothing with the store's name, and no sidecar.
    case absent
    /// A main file of zero bytes without a sidecar that holds anything.
    case emptyFile
    /// Sidecars that hold something, and no main file, or an empty one.
    case orphanSidecar(names: [String])
    /// Something is there, and it cannot be used.
    case unreadable(UnreadableStore)
    case store(StoreInspection)

    /// The inspection, when there is a store.
    public var inspection: StoreInspection? {
        if case .store(let inspection) = self { inspection } else { nil }
    }
}
