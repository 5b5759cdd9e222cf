package import SafeFiles
package import StoreAccess
package import StoreFormat

/// A store that takes part in a merge, opened by the caller.
///
/// On the base and the old side, the caller keeps a read transaction open from before the plan until after the merge.
/// The shared side is open for `liveWriting`, without a transaction.
package struct MergePlace {
    package let connection: StoreConnection
    /// The folder of external large values; nil if there is none.
    package let externalData: Directory?
    /// The model to read the store by; nil for the model inside the store.
    package let model: ManagedObjectModel?

    package init(_ connection: StoreConnection, externalData: Directory? = nil, model: ManagedObjectModel? = nil) {
        self.connection = connection
        self.externalData = externalData
        self.model = model
    }
}
