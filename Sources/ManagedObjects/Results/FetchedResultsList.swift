internal import StoreFormat

/// A controller's objects in order, and their sections.
struct FetchedResultsList {
    struct Entry {
        let object: ManagedObject
        let key: FetchOrder.Key
        /// The name of its section; empty without sections.
        let section: String
    }

    struct Section {
        let name: String
        let range: Range<Int>
    }

    let entries: [Entry]
    let sections: [Section]

    /// Groups ordered entries; without section names, all entries form one section, which may be empty.
    init(_ entries: [Entry], hasSections: Bool) {
        self.entries = entries
        guard hasSections else {
            sections = [Section(name: "", range: entries.indices)]
            return
        }
        var sections: [Section] = []
        var start = 0
        for index in entries.indices
        where index + 1 == entries.count || entries[index + 1].section != entries[index].section {
            sections.append(Section(name: entries[index].section, range: start..<index + 1))
            start = index + 1
        }
        self.sections = sections
    }

    /// The position of an entry.
    func indexPath(_ index: Int) -> FetchedResultsController.IndexPath {
        // Binary search for the last section that starts at or before the entry.
        var (low, high) = (0, sections.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if sections[middle].range.lowerBound <= index { low = middle } else { high = middle - 1 }
        }
        return FetchedResultsController.IndexPath(
            item: index - (sections.indices.contains(low) ? sections[low].range.lowerBound : 0),
            section: low
        )
    }
}
