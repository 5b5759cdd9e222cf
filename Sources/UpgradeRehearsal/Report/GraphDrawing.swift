/// A graph as a drawing with boxes and lines, and the same as a list.
struct GraphDrawing {
    /// The size up to which a drawing is readable; a larger graph is only listed.
    private static let most = (nodes: 120, edges: 400)
    /// The number of lines up to which their names fit into the drawing.
    private static let mostNames = 24
    private static let nameLength = 26
    private static let boxHeight = 44.0

    private let graph: ReportGraph
    private let name: String

    init(_ graph: ReportGraph, name: String) {
        self.graph = graph
        self.name = name
    }

    func write(to markup: inout Markup) {
        if graph.nodes.count <= Self.most.nodes, graph.edges.count <= Self.most.edges {
            writeDrawing(to: &markup)
            markup.details("The same as a list") { writeList(to: &$0) }
        } else {
            markup.element("p", "\(graph.nodes.count) entities are too many to draw.")
            writeList(to: &markup)
        }
    }

    // MARK: List

    private func writeList(to markup: inout Markup) {
        markup.element("ul") { markup in
            for node in graph.nodes {
                markup.element("li") { markup in
                    markup.element("code", node.name)
                    let words = [node.isAbstract ? "abstract" : nil, node.detail].compactMap { $0 }
                    if !words.isEmpty { markup.write(" (\(words.joined(separator: ", ")))") }
                    guard !node.properties.isEmpty else { return }
                    markup.element("ul") { markup in
                        for property in node.properties { markup.element("li") { $0.element("code", property) } }
                    }
                }
            }
        }
    }

    // MARK: Drawing

    private var namesLines: Bool { graph.edges.count <= Self.mostNames }

    private func writeDrawing(to markup: inout Markup) {
        let widest = namesLines ? graph.edges.map { Self.label($0).count }.max() ?? 0 : 0
        let layout = GraphLayout(
            widths: graph.nodes.map { node in
                let characters = max(
                    Double(MarkupText.shortened(node.name, to: Self.nameLength).count) * 7.8,
                    Double(node.detail?.count ?? 0) * 6.8
                )
                return max(96, characters + 28)
            },
            height: Self.boxHeight,
            edges: graph.edges.map { ($0.from, $0.to) },
            columnGap: max(56, Double(widest) * 6.2 + 44)
        )
        let title = name + "-title"
        let (width, height) = (Self.number(layout.width), Self.number(layout.height))
        markup.element("figure") { markup in
            markup.element("figcaption", key)
            markup.element("div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-labelledby": title]) {
                $0.element(
                    "svg",
                    [
                        "role": "img", "aria-labelledby": title, "width": width, "height": height,
                        "viewBox": "0 0 \(width) \(height)",
                    ]
                ) { markup in
                    markup.element("title", ["id": title], "Entities and how they relate")
                    for line in layout.lines { write(line, to: &markup) }
                    for loop in layout.loops { write(loop, at: layout.boxes[graph.edges[loop].from], to: &markup) }
                    for (node, box) in zip(graph.nodes, layout.boxes) { write(node, in: box, to: &markup) }
                    if namesLines { writeNames(layout, to: &markup) }
                }
            }
        }
    }

    /// Sentences that explain the lines.
    private var key: String {
        var sentences: [String] = []
        if graph.edges.contains(where: { $0.kind != .inheritance }) {
            sentences.append("A line is a relationship; a fork marks its to-many end.")
        }
        if graph.edges.contains(where: { $0.kind == .inheritance }) {
            sentences.append("A dashed line connects an entity with one that inherits from it.")
        }
        if graph.nodes.contains(where: \.isAbstract) { sentences.append("A dashed box is an abstract entity.") }
        return sentences.isEmpty ? "No entity relates to another." : sentences.joined(separator: " ")
    }

    private func write(_ node: ReportGraph.Node, in box: GraphLayout.Box, to markup: inout Markup) {
        markup.empty(
            "rect",
            [
                "x": Self.number(box.x), "y": Self.number(box.y), "width": Self.number(box.width),
                "height": Self.number(box.height), "rx": "6", "class": node.isAbstract ? "node abstract" : "node",
            ]
        )
        let middle = Self.number(box.x + box.width / 2)
        let y = box.y + (node.detail == nil ? 27 : 19)
        markup.element("text", ["x": middle, "y": Self.number(y), "class": "middle strong"]) { markup in
            let short = MarkupText.shortened(node.name, to: Self.nameLength)
            if short != node.name { markup.element("title", node.name) }
            markup.write(short)
        }
        if let detail = node.detail {
            markup.element("text", ["x": middle, "y": Self.number(box.y + 36), "class": "middle quiet"], detail)
        }
    }

    private func write(_ line: GraphLayout.Line, to markup: inout Markup) {
        guard let start = line.points.first, let end = line.points.last else { return }
        let edge = graph.edges[line.edge]
        var path = "M\(Self.number(start.x)) \(Self.number(start.y))"
        for (from, to) in zip(line.points, line.points.dropFirst()) {
            let middle = Self.number((from.x + to.x) / 2)
            path += " C\(middle) \(Self.number(from.y)) \(middle) \(Self.number(to.y))"
            path += " \(Self.number(to.x)) \(Self.number(to.y))"
        }
        let ends = line.isReversed ? (from: end, to: start) : (from: start, to: end)
        switch edge.kind {
        case .inheritance:
            markup.empty("path", ["d": path, "class": "link parent"])
            let out = line.isReversed ? -10.0 : 10
            let (x, y) = (ends.from.x, ends.from.y)
            let points = [(x, y), (x + out, y - 6), (x + out, y + 6)]
            markup.empty(
                "polygon",
                [
                    "points": points.map { "\(Self.number($0.0)),\(Self.number($0.1))" }.joined(separator: " "),
                    "class": "head",
                ]
            )
        case .relationship(let many, let manyBack):
            if many { path += Self.fork(at: ends.to, towards: line.isReversed ? 1 : -1) }
            if manyBack { path += Self.fork(at: ends.from, towards: line.isReversed ? -1 : 1) }
            markup.element("path", ["d": path, "class": "link"]) { $0.element("title", edge.label) }
        }
    }

    /// The strokes that spread a line's end over a box's side.
    private static func fork(at point: GraphLayout.Point, towards side: Double) -> String {
        let root = "M\(number(point.x + side * 10)) \(number(point.y))"
        return [-5.0, 5].map { " \(root) L\(number(point.x)) \(number(point.y + $0))" }.joined()
    }

    /// A relationship of an entity with itself, above the box.
    private func write(_ loop: Int, at box: GraphLayout.Box, to markup: inout Markup) {
        let edge = graph.edges[loop]
        let (left, right) = (box.x + box.width - 34, box.x + box.width - 12)
        let path =
            "M\(Self.number(left)) \(Self.number(box.y)) C\(Self.number(left)) \(Self.number(box.y - 16))"
            + " \(Self.number(right)) \(Self.number(box.y - 16)) \(Self.number(right)) \(Self.number(box.y))"
        markup.element("path", ["d": path, "class": "link"]) { $0.element("title", edge.label) }
    }

    // MARK: Names

    private static func label(_ edge: ReportGraph.Edge) -> String { MarkupText.shortened(edge.label, to: 30) }

    /// Writes the lines' names at their middles, one below the other where they would meet.
    private func writeNames(_ layout: GraphLayout, to markup: inout Markup) {
        let named = layout.lines.compactMap { line -> (x: Double, y: Double, text: String)? in
            let text = Self.label(graph.edges[line.edge])
            guard !text.isEmpty, line.points.count > 1 else { return nil }
            let (from, to) = (line.points[0], line.points[1])
            return ((from.x + to.x) / 2, (from.y + to.y) / 2, text)
        }
        for (_, names) in Dictionary(grouping: named, by: { Int($0.x / 40) }).sorted(by: { $0.key < $1.key }) {
            let sorted = names.sorted { ($0.y, $0.text) < ($1.y, $1.text) }
            let places = GraphLayout.ascending(sorted.enumerated().map { $1.y - Double($0) * 15 })
            for (index, name) in sorted.enumerated() {
                let y = places[index] + Double(index) * 15 + 4
                markup.element("text", ["x": Self.number(name.x), "y": Self.number(y), "class": "name"], name.text)
            }
        }
    }

    /// A coordinate with one digit after the point.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let rest = tenths.magnitude % 10
        return rest == 0 ? "\(sign)\(tenths.magnitude / 10)" : "\(sign)\(tenths.magnitude / 10).\(rest)"
    }
}
