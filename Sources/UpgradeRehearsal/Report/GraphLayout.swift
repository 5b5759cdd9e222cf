/// The positions of the boxes and lines of a graph: in columns from left to right, so that lines point to the right.
///
/// The method is Sugiyama's: break cycles, spread over columns, order each column so that few lines cross, then
/// straighten. It is deterministic.
struct GraphLayout {
    /// The position of a box.
    struct Box: Equatable {
        var x: Double
        var y: Double
        let width: Double
        let height: Double
    }

    /// A line from box to box, as points that it passes from left to right.
    struct Line: Equatable {
        /// The edge's index in the graph.
        let edge: Int
        /// True when it was drawn from its end to its beginning.
        let isReversed: Bool
        var points: [Point]
    }

    struct Point: Equatable {
        var x: Double
        var y: Double
    }

    private static let gap = 18.0
    private static let margin = 12.0
    private static let portDistance = 13.0

    private(set) var boxes: [Box]
    private(set) var lines: [Line] = []
    /// The edges from a box to itself.
    private(set) var loops: [Int] = []
    private(set) var width = 0.0
    private(set) var height = 0.0

    private var columns = GraphColumns()
    private let columnGap: Double

    /// Lays out boxes of these widths, with `columnGap` between two columns.
    init(widths: [Double], height: Double, edges: [(from: Int, to: Int)], columnGap: Double) {
        self.columnGap = columnGap
        boxes = widths.map { Box(x: 0, y: 0, width: $0, height: height) }
        let known = edges.enumerated().filter { widths.indices.contains($1.from) && widths.indices.contains($1.to) }
        loops = known.filter { $1.from == $1.to }.map(\.offset)
        let others = known.filter { $1.from != $1.to }
        let isConnected = Set(others.flatMap { [$1.from, $1.to] })
        columns = GraphColumns(nodes: widths.indices.filter(isConnected.contains), edges: others.map { ($0, $1) })
        columns.order()
        place()
        route()
        placeRest(widths.indices.filter { !isConnected.contains($0) })
    }

    // MARK: Places

    /// Gives every column its x, and straightens the lines by moving boxes up and down within their order.
    private mutating func place() {
        var x = Self.margin
        for column in columns.columns {
            let widest = column.compactMap { columns.node(of: $0) }.map { boxes[$0].width }.max() ?? 0
            for item in column {
                columns.items[item].x = x + widest / 2
                columns.items[item].halfWidth = (columns.node(of: item).map { boxes[$0].width } ?? widest) / 2
            }
            x += widest + columnGap
            var y = 0.0
            for item in column {
                let extent = extent(of: item)
                columns.items[item].y = y + extent / 2
                y += extent + Self.gap
            }
        }
        for round in 0..<24 {
            let isForward = round.isMultiple(of: 2)
            for column in isForward ? columns.columns : columns.columns.reversed() {
                straighten(column, isForward ? \.before : \.after)
            }
        }
        let top = columns.items.indices.map { columns.items[$0].y - extent(of: $0) / 2 }.min() ?? 0
        for index in columns.items.indices {
            columns.items[index].y += Self.margin - top
            guard let node = columns.node(of: index) else { continue }
            boxes[node].x = columns.items[index].x - boxes[node].width / 2
            boxes[node].y = columns.items[index].y - boxes[node].height / 2
            width = max(width, boxes[node].x + boxes[node].width + Self.margin)
            height = max(height, boxes[node].y + boxes[node].height + Self.margin)
        }
    }

    /// The height of a box in its column, with space for the lines at its sides.
    private func extent(of item: Int) -> Double {
        guard let node = columns.node(of: item) else { return 2 }
        let ports = max(columns.items[item].before.count, columns.items[item].after.count)
        return max(boxes[node].height, Double(ports) * Self.portDistance)
    }

    /// Moves a column's items as near to the middle of their neighbours as order and distance allow.
    private mutating func straighten(_ column: [Int], _ side: KeyPath<GraphColumns.Item, [Int]>) {
        var offsets: [Double] = []
        var wishes: [Double] = []
        var offset = 0.0
        for (index, item) in column.enumerated() {
            if index > 0 { offset += (extent(of: column[index - 1]) + extent(of: item)) / 2 + Self.gap }
            let neighbours = columns.items[item][keyPath: side].map { columns.items[$0].y }
            let wish = neighbours.isEmpty ? columns.items[item].y : neighbours.reduce(0, +) / Double(neighbours.count)
            offsets.append(offset)
            wishes.append(wish - offset)
        }
        for (index, place) in Self.ascending(wishes).enumerated() {
            columns.items[column[index]].y = place + offsets[index]
        }
    }

    /// The ascending sequence that is nearest to a given one: neighbours in the wrong order meet in their middle.
    static func ascending(_ values: [Double]) -> [Double] {
        var blocks: [(sum: Double, count: Int)] = []
        for value in values {
            blocks.append((value, 1))
            while blocks.count > 1 {
                let (last, previous) = (blocks[blocks.count - 1], blocks[blocks.count - 2])
                guard last.sum / Double(last.count) < previous.sum / Double(previous.count) else { break }
                blocks.removeLast(2)
                blocks.append((previous.sum + last.sum, previous.count + last.count))
            }
        }
        return blocks.flatMap { block in Array(repeating: block.sum / Double(block.count), count: block.count) }
    }

    /// Boxes without lines stand in rows below all others.
    private mutating func placeRest(_ rest: [Int]) {
        guard let widest = rest.map({ boxes[$0].width }).max(), let tallest = boxes.map(\.height).max() else { return }
        let top = height > 0 ? height + Self.gap : Self.margin
        let step = widest + Self.gap
        let perRow = max(1, Int((max(width, 860) - 2 * Self.margin + Self.gap) / step))
        for (index, node) in rest.enumerated() {
            boxes[node].x = Self.margin + Double(index % perRow) * step
            boxes[node].y = top + Double(index / perRow) * (tallest + Self.gap)
            width = max(width, boxes[node].x + boxes[node].width + Self.margin)
            height = max(height, boxes[node].y + tallest + Self.margin)
        }
    }

    // MARK: Lines

    /// Gives every line its own point at the sides of its boxes, ordered by the line's other end.
    private mutating func route() {
        var ports: [GraphColumns.Link: (start: Double, end: Double)] = [:]
        for index in columns.items.indices {
            let isBox = columns.node(of: index) != nil
            let outgoing = columns.links.filter { $0.from == index }.sorted(by: order(by: \.to))
            for (place, link) in outgoing.enumerated() {
                ports[link, default: (0, 0)].start = isBox ? port(place, of: outgoing.count, at: index) : y(of: index)
            }
            let incoming = columns.links.filter { $0.to == index }.sorted(by: order(by: \.from))
            for (place, link) in incoming.enumerated() {
                ports[link, default: (0, 0)].end = isBox ? port(place, of: incoming.count, at: index) : y(of: index)
            }
        }
        var points: [Int: [Point]] = [:]
        for link in columns.links {
            guard let (start, end) = ports[link] else { continue }
            points[link.edge, default: []] += [
                Point(x: columns.items[link.from].x + columns.items[link.from].halfWidth, y: start),
                Point(x: columns.items[link.to].x - columns.items[link.to].halfWidth, y: end),
            ]
        }
        lines = points.sorted { $0.key < $1.key }
            .map { edge, points in
                Line(
                    edge: edge,
                    isReversed: columns.reversed.contains(edge),
                    points: points.sorted { ($0.x, $0.y) < ($1.x, $1.y) }
                )
            }
    }

    private func order(by end: KeyPath<GraphColumns.Link, Int>) -> (GraphColumns.Link, GraphColumns.Link) -> Bool {
        { first, second in
            let places = (columns.items[first[keyPath: end]].y, columns.items[second[keyPath: end]].y)
            return places.0 == places.1 ? first.edge < second.edge : places.0 < places.1
        }
    }

    private func port(_ place: Int, of count: Int, at item: Int) -> Double {
        y(of: item) + (Double(place) - Double(count - 1) / 2) * min(Self.portDistance, extent(of: item) / Double(count))
    }

    private func y(of item: Int) -> Double { columns.items[item].y }
}
