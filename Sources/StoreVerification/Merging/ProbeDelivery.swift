/// One delivery of changes to the reading side of a probe.
struct ProbeDelivery: Sendable {
    /// The URIs of the changed objects.
    var uris: Set<String> = []
    /// True when everything may have changed.
    var isFullRefresh = false
    /// The UUIDs of other stores to which delivered URIs belong.
    var otherStores: Set<String> = []
    /// True when another process advanced its position past notices that it had not received.
    var isPositionMoved = false

    func names(_ uri: String) -> Bool { isFullRefresh || uris.contains(uri) }
}
