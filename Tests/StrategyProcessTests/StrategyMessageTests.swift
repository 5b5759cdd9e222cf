import FoundationEssentials
import StoreStrategies
import TestSupport
import Testing

@testable import StrategyProcess

@Suite("The wire")
struct StrategyMessageTests {
    private static let folder = Fixtures.folder + "/Messages/"

    /// The lines of a recorded conversation: those of the host begin with `>`, the plugin's with `<`.
    private static func lines(_ name: String) throws -> [(isQuestion: Bool, bytes: [UInt8])] {
        try String(contentsOf: URL(filePath: folder + name), encoding: .utf8).split(separator: "\n")
            .map { ($0.hasPrefix(">"), Array($0.dropFirst(2).utf8)) }
    }

    @Test("A recorded conversation is decoded and encoded again to the same bytes", arguments: ["conversation.txt"])
    func recorded(_ name: String) throws {
        let lines = try Self.lines(name)
        #expect(lines.count >= 6)
        for line in lines {
            let written =
                line.isQuestion
                ? try StrategyMessage.Question(line: line.bytes).line()
                : try StrategyMessage.Answer(line: line.bytes).line()
            #expect(String(decoding: written.dropLast(), as: UTF8.self) == String(decoding: line.bytes, as: UTF8.self))
            #expect(written.last == 0x0A)
        }
    }

    @Test("Old spellings and members of later versions are decoded")
    func oldAndNew() throws {
        let changes = try StrategyMessage.Answer(line: Array(#"{"description":{"changes":{"timeout":5}}}"#.utf8))
        #expect(changes == .changes(changes: .timeout(5)))
        let failure = try StrategyMessage.Answer(line: Array(#"{"error":{"message":"no"}}"#.utf8))
        #expect(failure == .failure(message: "no", recoverySuggestion: nil))
        let later =
            #"{"capability":{"protocolVersion":1,"name":"A","powers":["x","undo"],"colour":"red","documentation":{"#
            + #""summary":"A.","sets":[],"example":"A","notApplicable":"Never.","icon":"a.png"}}}"#
        guard case .capability(_, _, let told) = try StrategyMessage.Answer(line: Array(later.utf8))
        else {
            Issue.record("no capability")
            return
        }
        #expect(told.options.isEmpty && !told.isOrderIndependent)
    }

    @Test("Random input is decoded or refused, and decoded input can be encoded", arguments: Seed.several(4))
    func damaged(_ seed: UInt64) throws {
        var generator = Generator(state: seed)
        let answers = try Self.lines("conversation.txt").filter { !$0.isQuestion }.map(\.bytes)
        var read = 0
        for _ in 0..<1000 {
            var line = try #require(answers.randomElement(using: &generator))
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<line.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: line[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: line.remove(at: place)
                case 2: line.insert(contentsOf: line[place...].prefix(40), at: place)
                default: line.insert(contentsOf: [UInt8](repeating: 0x39, count: 30), at: place)
                }
                if line.isEmpty { break }
            }
            guard let answer = try? StrategyMessage.Answer(line: line) else { continue }
            read += 1
            #expect(try StrategyMessage.Answer(line: Array(answer.line().dropLast())) == answer)
        }
        #expect((1..<1000).contains(read))
    }

    /// A generator with the same numbers in every run.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test("A server answers each question, and reports one that it cannot parse")
    func server() throws {
        let strategy = Fixed()
        func ask(_ text: String) -> StrategyMessage.Answer {
            StrategyServer.answer(to: Array(text.utf8), from: strategy)
        }
        guard case .capability(1, "Fixed", _) = ask(#"{"getCapability":{"protocolVersion":1}}"#) else {
            Issue.record("no capability")
            return
        }
        let request = String(decoding: try StrategyMessage.Question.describe(request: .sample).line(), as: UTF8.self)
        #expect(ask(request) == .changes(changes: .timeout(4)))
        for strange in ["", "hello", "{}", #"{"describe":{}}"#] {
            guard case .failure = ask(strange) else {
                Issue.record("an answer to \(strange)")
                continue
            }
        }
    }

    private struct Fixed: StoreStrategy {
        let name = "Fixed"
        let documentation = StrategyDocumentation(
            summary: "Is made up for a test.",
            sets: [.timeout],
            example: "Fixed",
            notApplicable: "It applies to every store."
        )

        func evaluate(_ request: StrategyRequest) throws -> Applicability { .applicable }
        func describe(_ request: StrategyRequest) throws -> DescriptionChanges { .timeout(4) }
    }
}

extension DescriptionChanges {
    fileprivate static func timeout(_ seconds: Double) -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.timeout = seconds
        return changes
    }
}
