import FaultSupport
import ProtocolModel
import SafeFiles
import TestSupport
import Testing

@Suite("Recorded journals against the model of the protocol")
struct TraceTests {
    @Test("The journals of a real share are allowed, and not with a record dropped or two swapped")
    func share() throws {
        let judge = ShareJudge(template: try HabitTemplate.makeCoreData(journalMode: "wal"))
        let scratch = try Scratch()
        try judge.prepare(scratch)
        try judge.carryOut(in: scratch)
        var trace = try #require(try scratch.trace())
        trace.hasEnded = true
        #expect(
            trace.journals[.old].map(\.record) == [.begin, .nest, .publishing, .published, .fenced, .proved, .done]
        )
        #expect(TraceReplay(trace).objection == nil)
        for index in trace.journals[.old].indices {
            var dropped = trace
            dropped.journals[.old].remove(at: index)
            #expect(TraceReplay(dropped).objection != nil)
            var swapped = trace
            swapped.journals[.old].swapAt(index, (index + 1) % swapped.journals[.old].count)
            #expect(TraceReplay(swapped).objection != nil)
        }
    }
}
