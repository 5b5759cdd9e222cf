import TestSupport
import Testing

@testable import UpgradeRehearsal

@Suite("The layout of graphs")
struct GraphLayoutTests {
    private static func layout(_ nodes: Int, _ edges: [(from: Int, to: Int)]) -> GraphLayout {
        GraphLayout(
            widths: (0..<nodes).map { Double(96 + $0 * 7 % 60) },
            height: 44,
            edges: edges,
            columnGap: 80
        )
    }

    private static func edges(_ nodes: Int, _ count: Int, seed: UInt64) -> [(from: Int, to: Int)] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count)
            .map { _ in
                (Int.random(in: 0..<nodes, using: &generator), Int.random(in: 0..<nodes, using: &generator))
            }
    }

    @Test("Boxes do not overlap or leave the drawing, and every line joins its two boxes", arguments: 0..<40)
    func sound(_ seed: Int) {
        let nodes = 1 + seed * 60 / 39
        let edges = Self.edges(nodes, seed * 2, seed: Seed.current &+ UInt64(seed))
        let layout = Self.layout(nodes, edges)
        for (index, box) in layout.boxes.enumerated() {
            #expect(box.x >= 0 && box.y >= 0)
            #expect(box.x + box.width <= layout.width && box.y + box.height <= layout.height)
            for other in layout.boxes[(index + 1)...] {
                let isApart =
                    box.x + box.width <= other.x || other.x + other.width <= box.x || box.y + box.height <= other.y
                    || other.y + other.height <= box.y
                #expect(isApart, "\(box) \(other)")
            }
        }
        #expect(Set(layout.loops) == Set(edges.indices.filter { edges[$0].from == edges[$0].to }))
        #expect(layout.lines.count + layout.loops.count == edges.count)
        for line in layout.lines {
            let edge = edges[line.edge]
            let (left, right) = line.isReversed ? (edge.to, edge.from) : (edge.from, edge.to)
            let ends = (line.points[0], line.points[line.points.count - 1])
            #expect(abs(ends.0.x - layout.boxes[left].x - layout.boxes[left].width) < 0.01)
            #expect(abs(ends.1.x - layout.boxes[right].x) < 0.01)
            for (point, box) in [(ends.0, layout.boxes[left]), (ends.1, layout.boxes[right])] {
                #expect(point.y > box.y - box.height * 4 && point.y < box.y + box.height * 5)
            }
            for (from, to) in zip(line.points, line.points.dropFirst()) { #expect(from.x <= to.x) }
        }
    }

    @Test("Equal graphs have equal layouts")
    func deterministic() {
        let edges = Self.edges(60, 90, seed: 7)
        let (first, second) = (Self.layout(60, edges), Self.layout(60, edges))
        #expect(first.boxes == second.boxes)
        #expect(first.lines == second.lines)
    }

    @Test("A tree has no crossing lines, and parents stand left of their children")
    func tree() {
        let edges = (1..<15).map { (from: ($0 - 1) / 2, to: $0) }
        let layout = Self.layout(15, edges)
        for edge in edges {
            #expect(layout.boxes[edge.from].x + layout.boxes[edge.from].width < layout.boxes[edge.to].x)
        }
        for first in layout.lines {
            for second in layout.lines where second.edge > first.edge {
                guard first.points[0].x == second.points[0].x else { continue }
                let before = first.points[0].y - second.points[0].y
                let after = first.points[1].y - second.points[1].y
                #expect(before * after > 0, "\(first) \(second)")
            }
        }
    }

    @Test("A sequence becomes the nearest ascending one")
    func ascending() {
        #expect(GraphLayout.ascending([1, 2, 3]) == [1, 2, 3])
        #expect(GraphLayout.ascending([3, 1, 2]) == [2, 2, 2])
        #expect(GraphLayout.ascending([1, 5, 3, 7]) == [1, 4, 4, 7])
        #expect(GraphLayout.ascending([]) == [])
    }
}
