/// The columns of a graph's drawing: which box is in which, and in what order.
///
/// A line that crosses a column has an item of its own in it, so that boxes leave space for it.
struct GraphColumns {
    /// A box, or the point where a line crosses the column.
    struct Item {
        /// The box; nil for a line.
        let node: Int?
        /// The linked items in the previous and in the next column.
        var before: [Int] = []
        var after: [Int] = []
        /// The middle.
        var x = 0.0
        var y = 0.0
        /// Half the width of the box, or of the column for a line.
        var halfWidth = 0.0
    }

    /// A part of a line, from one column to the next.
    struct Link: Hashable {
        let edge: Int
        let from: Int
        let to: Int
    }

    /// No column has more boxes than this, as long as the lines allow it.
    private static let fewest = 8

    var items: [Item] = []
    private(set) var columns: [[Int]] = []
    private(set) var links: [Link] = []
    /// The edges that point to the left and are drawn from their end.
    private(set) var reversed: Set<Int> = []

    init() {}

    /// Spreads nodes over columns; edges are numbered, and none connects a node with itself.
    init(nodes: [Int], edges: [(Int, (from: Int, to: Int))]) {
        let targets = Dictionary(grouping: edges) { $0.1.from }
        reversed = Self.backward(nodes, targets)
        // Links between nodes first, then between items.
        let directed = edges.map { name, edge in
            reversed.contains(name)
                ? Link(edge: name, from: edge.to, to: edge.from) : Link(edge: name, from: edge.from, to: edge.to)
        }
        let columnOf = Self.spread(nodes, directed)
        columns = Array(repeating: [], count: (columnOf.values.max() ?? -1) + 1)
        var itemOf: [Int: Int] = [:]
        for node in nodes {
            guard let column = columnOf[node] else { continue }
            itemOf[node] = add(Item(node: node), to: column)
        }
        for edge in directed {
            guard let first = columnOf[edge.from], let last = columnOf[edge.to], var previous = itemOf[edge.from],
                let end = itemOf[edge.to]
            else { continue }
            for column in first..<last {
                let next = column + 1 == last ? end : add(Item(node: nil), to: column + 1)
                links.append(Link(edge: edge.edge, from: previous, to: next))
                items[previous].after.append(next)
                items[next].before.append(previous)
                previous = next
            }
        }
    }

    /// The node of an item that is a box.
    func node(of item: Int) -> Int? { items[item].node }

    private mutating func add(_ item: Item, to column: Int) -> Int {
        items.append(item)
        columns[column].append(items.count - 1)
        return items.count - 1
    }

    /// The edges that close a cycle, found by following edges from the first node on.
    private static func backward(_ nodes: [Int], _ targets: [Int: [(Int, (from: Int, to: Int))]]) -> Set<Int> {
        var result: Set<Int> = []
        var open: Set<Int> = []
        var seen: Set<Int> = []
        for root in nodes where !seen.contains(root) {
            var path: [(node: Int, next: Int)] = [(root, 0)]
            seen.insert(root)
            open.insert(root)
            while let (node, next) = path.last {
                let edges = targets[node] ?? []
                guard next < edges.count else {
                    open.remove(node)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let (name, edge) = edges[next]
                if open.contains(edge.to) {
                    result.insert(name)
                } else if seen.insert(edge.to).inserted {
                    open.insert(edge.to)
                    path.append((edge.to, 0))
                }
            }
        }
        return result
    }

    /// The column of each node: right of all its predecessors, and in the next column where one is full.
    private static func spread(_ nodes: [Int], _ edges: [Link]) -> [Int: Int] {
        let most = max(fewest, Int((Double(nodes.count) * 2).squareRoot().rounded(.up)))
        var waiting: [Int: Int] = [:]
        for edge in edges { waiting[edge.to, default: 0] += 1 }
        let targets = Dictionary(grouping: edges, by: \.from).mapValues { $0.map(\.to) }
        var ready = nodes.filter { waiting[$0] == nil }
        var columnOf: [Int: Int] = [:]
        var least: [Int: Int] = [:]
        var filled: [Int: Int] = [:]
        var index = 0
        while index < ready.count {
            let node = ready[index]
            index += 1
            var column = least[node] ?? 0
            while filled[column, default: 0] >= most { column += 1 }
            columnOf[node] = column
            filled[column, default: 0] += 1
            for target in targets[node] ?? [] {
                least[target] = max(least[target] ?? 0, column + 1)
                let left = (waiting[target] ?? 1) - 1
                waiting[target] = left
                if left == 0 { ready.append(target) }
            }
        }
        return columnOf
    }

    // MARK: Order

    /// Orders the columns by the middle of each item's neighbours, back and forth, so that few lines cross.
    mutating func order() {
        var best = (columns: columns, crossings: crossings)
        for round in 0..<16 where best.crossings > 0 {
            let isForward = round.isMultiple(of: 2)
            for column in isForward ? Array(columns.indices) : columns.indices.reversed() {
                sort(column, isForward ? \.before : \.after)
            }
            let now = crossings
            if now < best.crossings { best = (columns, now) }
        }
        columns = best.columns
    }

    private mutating func sort(_ column: Int, _ side: KeyPath<Item, [Int]>) {
        let places = places
        let keyed = columns[column].enumerated()
            .map { place, item in
                let neighbours = items[item][keyPath: side].compactMap { places[$0] }
                let key =
                    neighbours.isEmpty
                    ? Double(place) : Double(neighbours.reduce(0, +)) / Double(neighbours.count)
                return (key: key, place: place, item: item)
            }
        columns[column] = keyed.sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map(\.item)
    }

    private var places: [Int: Int] {
        var places: [Int: Int] = [:]
        for column in columns { for (place, item) in column.enumerated() { places[item] = place } }
        return places
    }

    /// How many pairs of lines cross.
    private var crossings: Int {
        let places = places
        var columnOf: [Int: Int] = [:]
        for (number, column) in columns.enumerated() { for item in column { columnOf[item] = number } }
        return Dictionary(grouping: links) { columnOf[$0.from] ?? 0 }.values
            .reduce(0) { sum, links in
                let ends = links.map { (places[$0.from] ?? 0, places[$0.to] ?? 0) }.sorted { $0 < $1 }.map(\.1)
                var crossed = 0
                for (index, end) in ends.enumerated() {
                    for later in ends[(index + 1)...] where later < end { crossed += 1 }
                }
                return sum + crossed
            }
    }
}
