/// The ids that the objects of temporary ones got when they were saved.
///
/// Each temporary id keeps its own, so that no table of them grows.
struct PermanentIDs {
    subscript(id: ManagedObjectID) -> ManagedObjectID? { id.permanentID }

    /// Takes over what came of a save.
    func merge(_ ids: [ManagedObjectID: ManagedObjectID]) {
        for (temporary, permanent) in ids { temporary.becomes(permanent) }
    }
}
