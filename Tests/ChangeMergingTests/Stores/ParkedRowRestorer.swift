import ChangeMerging

/// Collects the rows that a merge parks.
final class ParkedRowRestorer {
    var rows: [ParkedRow] = []
}
