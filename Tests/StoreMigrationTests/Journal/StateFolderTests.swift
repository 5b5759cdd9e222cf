import Dispatch
import SafeFiles
import StoreFormat
import Synchronization
import TestSupport
import Testing

@testable import StoreMigration

@Suite("The folder of a journal")
struct StateFolderTests {
    @Test("Runs that leave no record take turns, though each of them removes the folder")
    func takingTurns() throws {
        let scratch = try ScratchFolder()
        let folder = StateFolder(of: scratch.location("store.sqlite"), stateFolder: nil)
        let inside = Atomic(0)
        let problems = Mutex([String]())
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<25 {
                do {
                    try folder.withJournal(deadline: Deadline(after: .seconds(120))) { _ in
                        let others = inside.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
                        inside.wrappingSubtract(1, ordering: .sequentiallyConsistent)
                        if others > 0 { problems.withLock { $0.append("two at once") } }
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(try scratch.directory.entries().isEmpty)
    }
}
