/// The permanent IDs that objects with temporary IDs got in a save.
///
/// Each temporary ID stores its permanent ID, so that no table grows.
struct PermanentIDs {
    subscript(id: ManagedObjectID) -> ManagedObjectID? { id.permanentID }

    /// Adds the permanent IDs of a save.
    func merge(_ ids: [ManagedObjectID: ManagedObjectID]) {
        for (temporary, permanent) in ids { temporary.becomes(permanent) }
    }
}
