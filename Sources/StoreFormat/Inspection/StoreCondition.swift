/// The result of an inspection of one path.
///
/// An unreadable store or an orphaned sidecar never counts as absent.
public enum StoreCondition: Sendable {
    /// Neither a file with the store's name nor a sidecar.
    case absent
    /// A main file of zero bytes without a non-empty sidecar.
    case emptyFile
    /// Non-empty sidecars, and a main file that is missing or empty.
    case orphanSidecar(names: [String])
    /// A file exists and cannot be used.
    case unreadable(UnreadableStore)
    case store(StoreInspection)

    /// The inspection, if there is a store.
    public var inspection: StoreInspection? {
        if case .store(let inspection) = self { inspection } else { nil }
    }
}
