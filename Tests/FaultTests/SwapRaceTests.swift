import FaultSupport
import Foundation
import Glibc
import SafeFiles
import TestSupport
import Testing

@Suite("Names that are exchanged with symbolic links during calls", .verify, .serialized)
struct SwapRaceTests {
    @Test("No call follows a link to the outside", arguments: SwapRace.all)
    func swaps(_ race: SwapRace) throws {
        let outcome = try race.run(swaps: 1000, deadline: Deadline(after: .seconds(120)))
        #expect(outcome.escapes == 0)
        #expect(race.objections(to: outcome, swaps: 1000).isEmpty)
    }

    @Test("The race detects a program that checks a name before it opens it")
    func careless() throws {
        let race = SwapRace("look, then open", on: SwapPlace.folder, refusesLinks: false) { place, _ in
            let path = place.inside.path + "/" + SwapPlace.folder
            guard try place.inside.status(of: SwapPlace.folder)?.kind == .directory else { return false }
            // A wider gap between check and use makes the race shorter.
            let seen = place.swapCount
            for _ in 0..<1_000_000 where place.swapCount == seen { sched_yield() }
            close(open(path + "/planted", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            return false
        }
        let outcome = try race.run(swaps: 1_000_000, deadline: Deadline(after: .seconds(120)))
        #expect(outcome.escapes == 1, "it ends at the first")
    }

    @Test("The race detects a program that locks a file outside")
    func carelessLock() throws {
        let race = SwapRace("lock", on: SwapPlace.file, refusesLinks: false) { place, _ in
            let file = open(place.inside.path + "/" + SwapPlace.file, O_RDWR | O_CLOEXEC)
            defer { close(file) }
            return try flock(file, LOCK_EX | LOCK_NB) == 0 && place.isVictimLocked()
        }
        #expect(try race.run(swaps: 20_000, deadline: Deadline(after: .seconds(120))).escapes > 0)
    }

    @Test("The race detects a program that takes a lease on a file outside")
    func carelessLease() throws {
        // F_SETSIG and F_SETLEASE of linux/fcntl.h. Opening the file sends the signal; this one is ignored by default.
        let (setSignal, setLease) = (Int32(10), Int32(1024))
        let race = SwapRace("take a lease", on: SwapPlace.file, refusesLinks: false) { place, _ in
            let file = open(place.inside.path + "/" + SwapPlace.file, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            guard fcntl(file, setSignal, SIGURG) == 0, fcntl(file, setLease, Int32(F_WRLCK)) == 0 else { return false }
            return try place.isVictimLeased()
        }
        #expect(try race.run(swaps: 20_000, deadline: Deadline(after: .seconds(120))).escapes > 0)
    }
}
