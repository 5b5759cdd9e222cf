import ProtocolModel
import Testing

@Suite("Replay of journals against the model of the protocol")
struct TraceReplayTests {
    /// The journal of a whole share, as the tool leaves it.
    private static let share: [Record] = [.begin, .nest, .publishing, .published, .fenced, .proved, .done]

    private static func trace(_ records: [Record], hasEnded: Bool = true) -> TraceReplay.Trace {
        var trace = TraceReplay.Trace()
        trace.journals[.old] = records.map { record in
            var entry = TraceReplay.Entry(record)
            entry.fences = record == .begin
            return entry
        }
        trace.files[.old].hasMain = true
        trace.files[.old].isFenced = true
        trace.files[.new].hasMain = true
        trace.files[.new].hasReceipt = true
        trace.hasEnded = hasEnded
        return trace
    }

    @Test("The journal and the files of a whole share are allowed")
    func whole() {
        #expect(TraceReplay(Self.trace(Self.share)).objection == nil)
    }

    @Test("A merge of late writes that was killed after its first record is allowed")
    func lateMerge() {
        let records: [Record] = [.begin, .nest, .base, .publishing, .published, .proved, .done, .begin]
        var trace = Self.trace(records, hasEnded: false)
        for index in trace.journals[.old].indices { trace.journals[.old][index].fences = false }
        trace.files[.old].isFenced = false
        #expect(TraceReplay(trace).verdict == .allowed)
    }

    @Test("A journal with a record dropped is refused", arguments: share.indices)
    func dropped(_ index: Int) {
        var records = Self.share
        records.remove(at: index)
        #expect(TraceReplay(Self.trace(records)).objection != nil)
    }

    @Test("A journal with two records swapped is refused", arguments: share.indices.dropLast())
    func swapped(_ index: Int) {
        var records = Self.share
        records.swapAt(index, index + 1)
        #expect(TraceReplay(Self.trace(records)).objection != nil)
    }

    @Test("Files that no state with these records has are refused")
    func files() {
        var trace = Self.trace(Self.share)
        trace.files[.old].isFenced = false
        #expect(TraceReplay(trace).objection?.contains("no state of the model has these files") == true)
        trace = Self.trace(Self.share)
        trace.files[.new].hasStaging = true
        #expect(TraceReplay(trace).objection != nil)
        trace = Self.trace([.begin, .nest], hasEnded: false)
        #expect(TraceReplay(trace).objection != nil)
    }
}
