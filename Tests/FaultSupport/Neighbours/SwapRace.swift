package import SafeFiles
import SystemPackage

/// A call that takes a name, repeated while a thread exchanges the name with a link to the outside.
package struct SwapRace: Sendable, CustomStringConvertible {
    /// The result of a race.
    package struct Outcome: Sendable {
        /// The least number of exchanges of a name that the call takes.
        package var swaps = 0
        package var calls = 0
        /// Calls that were refused, as a call that meets the link must be.
        package var refused = 0
        package var escapes = 0
    }

    /// The maximum number of swaps per call.
    private static let swapsPerCall = 100
    /// A race ends without a result after so many times the requested swaps, if its call was made often enough; calls that
    /// wait for a disk take longer.
    private static let patience = 50

    package let description: String
    /// The names that the call takes.
    private let names: [String]
    /// False for a call that operates on the link itself, such as one that moves or removes a name.
    private let refusesLinks: Bool
    /// Makes the call once, and returns whether it reached the outside.
    private let attempt: @Sendable (SwapPlace, Int) throws -> Bool

    package init(
        _ description: String,
        on names: String...,
        refusesLinks: Bool = true,
        attempt: @escaping @Sendable (SwapPlace, Int) throws -> Bool
    ) {
        self.description = description
        self.names = names
        self.refusesLinks = refusesLinks
        self.attempt = attempt
    }

    /// Makes the call until each of its names was exchanged `swaps` times, and it met both the real file and a link.
    package func run(swaps: Int, deadline: Deadline) throws -> Outcome {
        let place = try SwapPlace(exchanging: names)
        var outcome = Outcome()
        try place.whileSwapping {
            while !deadline.hasPassed {
                outcome.swaps = place.swapCount
                if isMadeOftenEnough(outcome, swaps) && outcome.swaps >= swaps * Self.patience { break }
                if objections(to: outcome, swaps: swaps).isEmpty { break }
                outcome.calls += 1
                do {
                    if try attempt(place, outcome.calls) { outcome.escapes += 1 }
                } catch is FileError {
                    outcome.refused += 1
                } catch is Errno {
                    outcome.refused += 1
                }
                if try place.isOutsideTouched() {
                    outcome.escapes += 1
                    break
                }
                place.restore()
            }
        }
        outcome.swaps = place.swapCount
        return outcome
    }

    private func isMadeOftenEnough(_ outcome: Outcome, _ swaps: Int) -> Bool {
        outcome.calls * Self.swapsPerCall >= swaps
    }

    /// Why a race proves nothing, whether or not something escaped.
    package func objections(to outcome: Outcome, swaps: Int) -> [String] {
        var objections: [String] = []
        if outcome.swaps < swaps { objections.append("\(outcome.swaps) swaps only") }
        if !isMadeOftenEnough(outcome, swaps) { objections.append("\(outcome.calls) calls only") }
        if outcome.calls == outcome.refused { objections.append("every call was refused") }
        if refusesLinks && outcome.refused == 0 { objections.append("no call was refused") }
        return objections
    }
}

extension SwapRace {
    /// Every call of ``Directory`` and ``DurableFile`` that takes a name.
    package static let all = [
        SwapRace("open a file to read", on: SwapPlace.file) { place, _ in
            try place.isOutside(place.inside.openFile(SwapPlace.file, for: .reading).status())
        },
        SwapRace("open a file to write", on: SwapPlace.file) { place, _ in
            let file = try place.inside.openFile(SwapPlace.file, for: .writing)
            try [1].withUnsafeBytes { try file.write($0, at: 0) }
            try file.truncate(to: 0)
            return try place.isOutside(file.status())
        },
        SwapRace("open a file to set its mode and owner", on: SwapPlace.file) { place, number in
            let file = try place.inside.openFile(SwapPlace.file, for: .writing)
            try file.setMode(number.isMultiple(of: 2) ? 0o600 : 0o640)
            let status = try file.status()
            try file.setOwner(user: status.owner, group: status.group)
            return place.isOutside(status)
        },
        SwapRace("read the content of a file", on: SwapPlace.file) { place, _ in
            try place.inside.contents(of: SwapPlace.file, limit: 100) == [7, 7, 7]
        },
        SwapRace("clone a file", on: SwapPlace.file) { place, _ in
            let source = try place.inside.openFile(SwapPlace.file, for: .reading)
            let copy = try place.inside.createFile("clone", mode: 0o600)
            defer { try? place.inside.removeFile("clone") }
            _ = try copy.clone(from: source)
            return try place.isOutside(source.status()) || copy.status().size == 3
        },
        SwapRace("open a folder", on: SwapPlace.folder) { place, _ in
            let folder = try place.inside.openDirectory(SwapPlace.folder)
            return try place.isOutside(folder.status()) || folder.entries().contains("inner")
        },
        SwapRace("open a folder to set its mode and owner", on: SwapPlace.folder) { place, number in
            let folder = try place.inside.openDirectory(SwapPlace.folder)
            try folder.setMode(number.isMultiple(of: 2) ? 0o700 : 0o750)
            let status = try folder.status()
            try folder.setOwner(user: status.owner, group: status.group)
            return place.isOutside(status)
        },
        SwapRace("open a folder and create a file in it", on: SwapPlace.folder) { place, number in
            let folder = try place.inside.openDirectory(SwapPlace.folder)
            try folder.createFile("file-\(number)", mode: 0o600).close()
            try folder.removeFile("file-\(number)")
            return try place.isOutside(folder.status())
        },
        SwapRace("open a folder and move a file into it", on: SwapPlace.folder) { place, number in
            let folder = try place.inside.openDirectory(SwapPlace.folder)
            _ = try place.inside.createFile("moving", mode: 0o600)
            defer { try? place.inside.removeFile("moving") }
            try place.inside.move("moving", to: "moved-\(number)", in: folder)
            try folder.removeFile("moved-\(number)")
            return try place.isOutside(folder.status())
        },
        SwapRace("create a file", on: SwapPlace.vacant) { place, _ in
            let file = try place.inside.createFile(SwapPlace.vacant, mode: 0o640)
            try [1].withUnsafeBytes { try file.write($0, at: 0) }
            try place.inside.removeFile(SwapPlace.vacant)
            return try place.isOutside(file.status())
        },
        SwapRace("create a folder", on: SwapPlace.vacant) { place, _ in
            let folder = try place.inside.createDirectory(SwapPlace.vacant, mode: 0o750)
            try place.inside.removeDirectory(SwapPlace.vacant)
            return try place.isOutside(folder.status())
        },
        SwapRace("move a file", on: SwapPlace.file, refusesLinks: false) { place, _ in
            defer { try? place.inside.removeFile("moved") }
            try place.inside.move(SwapPlace.file, to: "moved", in: place.inside)
            return try place.inside.status(of: "moved").map(place.isOutside) ?? false
        },
        SwapRace("move a file to a name that may be a link", on: SwapPlace.vacant) { place, _ in
            _ = try place.inside.createFile("moving", mode: 0o600)
            defer { try? place.inside.removeFile("moving") }
            try place.inside.move("moving", to: SwapPlace.vacant, in: place.inside)
            try place.inside.removeFile(SwapPlace.vacant)
            return false
        },
        SwapRace("replace a file that may be a link", on: SwapPlace.file, refusesLinks: false) { place, _ in
            try place.inside.replace(SwapPlace.file, with: [1], mode: 0o640)
            return false
        },
        SwapRace("replace a file whose new content may be written through a link", on: SwapPlace.file, SwapPlace.vacant)
        { place, number in
            // Leftovers of an interrupted run are reused: a file, a link to a file, or a dangling link.
            let name = number.isMultiple(of: 2) ? "memo" : "note"
            try place.inside.replace(name, with: [1], mode: 0o640)
            return try place.inside.contents(of: name, limit: 10) == [7, 7, 7]
        },
        SwapRace("remove a file", on: SwapPlace.file, refusesLinks: false) { place, _ in
            try place.inside.removeFile(SwapPlace.file)
            return false
        },
        SwapRace("remove a folder", on: SwapPlace.folder) { place, _ in
            try place.inside.removeDirectory(SwapPlace.folder)
            return false
        },
        SwapRace("remove everything", on: SwapPlace.file, SwapPlace.folder, SwapPlace.vacant, refusesLinks: false) {
            place,
            _ in
            if let folder = try? place.inside.openDirectory(SwapPlace.folder) {
                try folder.createFile("file", mode: 0o600).close()
            }
            place.inside.removeContents()
            return false
        },
        SwapRace("read the status of a file", on: SwapPlace.file, refusesLinks: false) { place, _ in
            let token = try place.inside.token(of: SwapPlace.file)
            let status = try place.inside.status(of: SwapPlace.file)
            return status.map(place.isOutside) ?? false || token.main?.size == 3
        },
        SwapRace("lock a file", on: SwapPlace.file) { place, _ in
            let lock = try FileLock.acquire(SwapPlace.file, in: place.inside, deadline: Deadline(after: .zero))
            guard let lock else { throw Errno.resourceTemporarilyUnavailable }
            // A lock leaves no trace outside: it has to be checked while it is held.
            defer { lock.release() }
            return try place.isVictimLocked()
        },
        SwapRace("lock a file that is created for it", on: SwapPlace.vacant) { place, _ in
            let lock = try FileLock.acquire(SwapPlace.vacant, in: place.inside, deadline: Deadline(after: .zero))
            guard let lock else { throw Errno.resourceTemporarilyUnavailable }
            defer { lock.release() }
            try place.inside.removeFile(SwapPlace.vacant)
            return false
        },
        SwapRace("take a lease on a file", on: SwapPlace.file) { place, _ in
            let lease = try FileLease.acquire(on: SwapPlace.file, in: place.inside)
            guard let lease else { throw Errno.resourceTemporarilyUnavailable }
            defer { lease.release() }
            return try place.isVictimLeased()
        },
    ]
}
