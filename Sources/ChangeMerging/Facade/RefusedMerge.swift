import StoreFormat

/// A merge that is refused.
struct RefusedMerge: PlannedMerge {
    let summary: MergeSummary
    let account: MergeAccount? = nil
    private let path: String

    init(_ refusal: MergeRefusal, path: String) {
        var summary = MergeSummary()
        summary.refusals = [refusal]
        self.summary = summary
        self.path = path
    }

    func forEachRekeyedObject(_ body: (RekeyedObject) throws -> Void) {}

    func carryOut(_ run: MergeRun) throws -> MergeResult { throw summary.refusal(path: path) }
}

extension MergeSummary {
    /// The error for a caller that executes a refused merge.
    func refusal(path: String) -> StoreError {
        StoreError(.incompatible, path: path, refusals.map(\.description).joined(separator: "; "))
    }
}
