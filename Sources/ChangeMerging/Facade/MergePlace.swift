package import SafeFiles
package import StoreFormat

/// A store that takes part in a merge, as the caller opened it.
///
/// Of the base and of the old side the caller holds a read transaction from before the plan until after the merge; on the
/// shared side, which is to be open for `liveWriting`, none.
package struct MergePlace {
    package let connection: StoreConnection
    /// The folder of the large values that lie in files of their own; nil where there is none.
    package let externalData: Directory?
    /// The model to read it by; nil for the one that the store keeps.
    package let model: ManagedObjectModel?

    package init(_ connection: StoreConnection, externalData: Directory? = nil, model: ManagedObjectModel? = nil) {
        self.connection = connection
        self.externalData = externalData
        self.model = model
    }
}
