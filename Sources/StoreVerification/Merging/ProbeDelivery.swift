/// What reached the reading side of a probe in one go.
struct ProbeDelivery: Sendable {
    /// The URIs of the objects it was told of.
    var uris: Set<String> = []
    /// True when it was told that everything may have changed.
    var isFullRefresh = false
    /// The UUIDs of other stores that the URIs it was told of belong to.
    var otherStores: Set<String> = []
    /// True when somebody else said that it had merged what it never saw.
    var isPositionMoved = false

    func names(_ uri: String) -> Bool { isFullRefresh || uris.contains(uri) }
}
