internal import FoundationEssentials
internal import StoreFormat

/// Where a context gets its objects from and saves them to: a coordinator, or the parent of a child context.
protocol ObjectSource: Sendable {
    /// The row of an object; nil when there is none any more. A row may be as old as `age` says; nil is any age.
    func row(of id: ManagedObjectID, maximumAge: Duration?) throws -> RowSnapshot?
    /// The same of several objects, each in its place, read with as few statements as possible.
    func rows(of ids: [ManagedObjectID], maximumAge: Duration?) throws -> [RowSnapshot?]
    /// The row of an object as contexts share it; nil when none of them has read it. Nothing is read for it.
    func sharedRow(of id: ManagedObjectID) -> RowSnapshot?
    /// The rows of several objects, read anew; those that are gone are missing.
    func rows(of ids: [ManagedObjectID]) throws -> [RowSnapshot]
    /// The rows that a fetch asks for, read anew, in its order and within its limit where ``ordersFetches(of:)``.
    func rows(_ fetch: ResolvedFetch) throws -> [RowSnapshot]
    /// The ids of what a fetch asks for, in its order and within its limit; only for fetches whose entity has its order here.
    func objectIDs(_ fetch: ResolvedFetch) throws -> [ManagedObjectID]
    /// True when fetches of an entity come in their order and within their limit: when one store holds its objects.
    func ordersFetches(of entity: String) -> Bool
    /// The number of objects that a fetch asks for; nil when only fetching them tells.
    func count(_ fetch: ResolvedFetch) throws -> Int?
    /// The dictionaries that a fetch asks for, as the stores have them.
    func dictionaries(_ fetch: ResolvedFetch) throws -> [[String: PredicateConstant]]
    func destinations(of owners: [ManagedObjectID], _ relationship: String) throws -> [ManagedObjectID:
        [ManagedObjectID]]
    func externalData(_ name: String, of id: ManagedObjectID) throws -> Data
    func save(_ request: SaveRequest) throws -> SaveOutcome
    /// Counts a context as a user of cached rows, and no longer.
    func retain(_ rows: [RowSnapshot])
    func release(_ id: ManagedObjectID)
    /// Makes the next to ask for these rows read them from the store; nil for rows of any age.
    func forget(_ ids: [ManagedObjectID], olderThan age: Duration?)
    /// True for ids whose store is open here.
    func canRead(_ id: ManagedObjectID) -> Bool
    func shape() throws -> ModelShape
    /// The class of an entity's objects.
    func type(of shape: ObjectShape) -> ManagedObject.Type
}
