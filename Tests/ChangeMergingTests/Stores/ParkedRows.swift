import ChangeMerging

/// Collects the rows that a merge parks.
final class ParkedRows {
    var rows: [ParkedRow] = []
}
