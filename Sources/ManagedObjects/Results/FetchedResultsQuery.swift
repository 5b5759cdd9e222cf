internal import StoreAccess
internal import StoreFormat

/// A controller's request, resolved in the model: decides whether and where an object belongs to the result.
struct FetchedResultsQuery {
    let fetch: ResolvedFetch
    /// The other entities on which the result depends.
    let dependencies: Set<String>
    private let order: FetchOrder
    private let evaluator: PredicateEvaluator?
    private let section: ResolvedOperand?

    init(_ request: FetchRequest<ManagedObject>, _ sectionNameKeyPath: String?, model: ManagedObjectModel) throws {
        var request = request
        request.returnsDictionaries = false
        guard !request.sortDescriptors.isEmpty else {
            throw FetchError(
                entity: request.entityName,
                keyPath: "",
                message: "a fetched results controller needs a sort descriptor"
            )
        }
        fetch = try request.resolved(in: model)
        order = FetchOrder(fetch)
        evaluator = fetch.predicate.map(PredicateEvaluator.init)
        section = try sectionNameKeyPath.map { keyPath throws(FetchError) in
            try ResolvedFetch.operand(keyPath, of: request.entityName, in: model)
        }
        dependencies = fetch.dependencies.union(section?.dependencies ?? [])
    }

    var hasSections: Bool { section != nil }
    /// True when an object's place in the result depends on other objects.
    var hasWindow: Bool { fetch.request.fetchLimit > 0 || fetch.request.fetchOffset > 0 }

    /// True for an object that matches the request, regardless of limit and offset.
    func matches(_ object: ManagedObject) throws -> Bool {
        try fetch.includes(object) && object.status.isDisjoint(with: [.deleted, .gone])
            && (evaluator?.matches(object) ?? true)
    }

    func entry(_ object: ManagedObject) throws -> FetchedResultsList.Entry {
        FetchedResultsList.Entry(
            object: object,
            key: try order.key(of: object),
            section: try section.map { try name($0, of: object) } ?? ""
        )
    }

    /// The list of objects; throws when the order splits sections.
    ///
    /// Uses the objects' current values: while notices wait to be merged, the store's values are newer.
    func list(of objects: [ManagedObject]) throws -> FetchedResultsList {
        try list(inOrder: objects.map(entry).sorted(by: precedes))
    }

    /// The list of ordered entries; throws when the order splits sections.
    func list(inOrder entries: [FetchedResultsList.Entry]) throws -> FetchedResultsList {
        let list = FetchedResultsList(entries, hasSections: hasSections)
        guard Set(list.sections.map(\.name)).count == list.sections.count else {
            throw FetchError(
                entity: fetch.request.entityName,
                keyPath: "",
                message:
                    "the objects of a section are not contiguous: the first sort descriptor must match the sections"
            )
        }
        return list
    }

    func precedes(_ first: FetchedResultsList.Entry, _ second: FetchedResultsList.Entry) -> Bool {
        order.precedes(first.key, second.key)
    }

    /// A section's name is the value as text; the name for nil is empty.
    private func name(_ operand: ResolvedOperand, of object: ManagedObject) throws -> String {
        switch try order.evaluator.value(of: operand, [], [object]) {
        // Fetches hold their values whole.
        case .null, .large: ""
        case .integer(let value): String(value)
        case .real(let value): value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
        case .text(let value): value.string
        case .blob(let bytes): bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}

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
