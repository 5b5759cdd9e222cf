/// The changes from one list of results to another.
struct FetchedResultsChanges {
    struct Change {
        let object: ManagedObject
        let type: FetchedResultsController.ChangeType
        /// The index of its entry in the old list.
        let old: Int?
        /// The index of its entry in the new list.
        let new: Int?
    }

    let deletedSections: [Int]
    let insertedSections: [Int]
    /// Deletions, then insertions, then moves, then updates, each in the order of positions.
    let objects: [Change]

    var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && objects.isEmpty }

    /// Compares two lists; objects in `changed` that keep their position are reported as updated.
    init(from old: FetchedResultsList, to new: FetchedResultsList, changed: Set<ManagedObject>) {
        let staying = Self.stayingSections(old, new)
        deletedSections = old.sections.indices.filter { !staying.contains(old.sections[$0].name) }
        insertedSections = new.sections.indices.filter { !staying.contains(new.sections[$0].name) }

        var places: [ObjectIdentifier: Int] = [:]
        for (index, entry) in new.entries.enumerated() { places[ObjectIdentifier(entry.object)] = index }
        var deletions: [Change] = []
        // The objects in both lists: old index, new index.
        var common: [(old: Int, new: Int)] = []
        for (index, entry) in old.entries.enumerated() {
            if let place = places.removeValue(forKey: ObjectIdentifier(entry.object)) {
                common.append((index, place))
            } else {
                deletions.append(Change(object: entry.object, type: .delete, old: index, new: nil))
            }
        }
        let insertions = places.values.sorted()
            .map { Change(object: new.entries[$0].object, type: .insert, old: nil, new: $0) }

        let isInPlace = Self.staying(common.map(\.new)) { changed.contains(old.entries[common[$0].old].object) }
        var moves: [Change] = []
        var updates: [Change] = []
        for (index, place) in common.enumerated() {
            let object = old.entries[place.old].object
            let section = new.entries[place.new].section
            if !isInPlace[index] || old.entries[place.old].section != section || !staying.contains(section) {
                moves.append(Change(object: object, type: .move, old: place.old, new: place.new))
            } else if changed.contains(object) {
                updates.append(Change(object: object, type: .update, old: place.old, new: place.new))
            }
        }
        objects = deletions + insertions + moves + updates
    }

    /// The names of the sections in both lists that keep their order; other sections are deleted and inserted again.
    private static func stayingSections(_ old: FetchedResultsList, _ new: FetchedResultsList) -> Set<String> {
        let places = Dictionary(new.sections.enumerated().map { ($0.element.name, $0.offset) }) { first, _ in first }
        let common = old.sections.compactMap { section in places[section.name].map { (section.name, $0) } }
        let isInPlace = staying(common.map(\.1)) { _ in false }
        return Set(zip(common, isInPlace).filter(\.1).map(\.0.0))
    }

    /// Selects the elements that stay in place so that the numbers ascend.
    ///
    /// Moves as few elements as possible, and unchanged ones only if unavoidable.
    private static func staying(_ numbers: [Int], isChanged: (Int) -> Bool) -> [Bool] {
        if zip(numbers, numbers.dropFirst()).allSatisfy(<) { return [Bool](repeating: true, count: numbers.count) }
        // Heaviest ascending subsequence, computed with a tree of maxima over the numbers' ranks.
        let ranks = Dictionary(numbers.sorted().enumerated().map { ($0.element, $0.offset + 1) }) { first, _ in first }
        let unchangedWeight = numbers.count + 1
        var best = [(weight: Int, index: Int?)](repeating: (0, nil), count: numbers.count + 1)
        var weights = [Int](repeating: 0, count: numbers.count)
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            let rank = ranks[number] ?? 1
            var found: (weight: Int, index: Int?) = (0, nil)
            var node = rank - 1
            while node > 0 {
                if best[node].weight > found.weight { found = best[node] }
                node -= node & -node
            }
            weights[index] = found.weight + (isChanged(index) ? 1 : unchangedWeight)
            previous[index] = found.index
            node = rank
            while node <= numbers.count {
                if weights[index] > best[node].weight { best[node] = (weights[index], index) }
                node += node & -node
            }
        }
        var result = [Bool](repeating: false, count: numbers.count)
        var next = weights.indices.max { weights[$0] < weights[$1] }
        while let index = next {
            result[index] = true
            next = previous[index]
        }
        return result
    }

    /// The changes as removals and insertions of IDs; nil when no object was inserted, deleted or moved.
    func difference(
        from old: FetchedResultsList,
        to new: FetchedResultsList
    ) -> CollectionDifference<ManagedObjectID>? {
        var changes: [CollectionDifference<ManagedObjectID>.Change] = []
        for change in objects where change.type != .update {
            let isMove = change.type == .move
            if let offset = change.old {
                changes.append(
                    .remove(
                        offset: offset,
                        element: change.object.objectID,
                        associatedWith: isMove ? change.new : nil
                    )
                )
            }
            if let offset = change.new {
                changes.append(
                    .insert(
                        offset: offset,
                        element: change.object.objectID,
                        associatedWith: isMove ? change.old : nil
                    )
                )
            }
        }
        return changes.isEmpty ? nil : CollectionDifference(changes)
    }
}
