import FaultSupport
import Foundation
import Glibc
import SafeFiles
import Testing

@Suite("Names that are exchanged with links while they are used", .serialized)
struct SwapRaceTests {
    @Test("No call leads outside", arguments: SwapRace.all)
    func swaps(_ race: SwapRace) throws {
        let outcome = try race.run(swaps: 1000, deadline: Deadline(after: .seconds(120)))
        #expect(outcome.escapes == 0)
        #expect(outcome.swaps >= 1000)
        #expect(outcome.calls > 0)
    }

    @Test("A careless program that looks before it opens is led outside, and that is noticed")
    func careless() throws {
        let race = SwapRace("look, then open") { place, _ in
            let path = place.inside.path + "/" + SwapPlace.folder
            guard try place.inside.status(of: SwapPlace.folder)?.kind == .directory else { return false }
            close(open(path + "/planted", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            return false
        }
        let outcome = try race.run(swaps: 1_000_000, deadline: Deadline(after: .seconds(120)))
        #expect(outcome.escapes == 1, "it ends at the first")
    }
}
