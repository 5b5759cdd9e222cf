import CFuzzing
import Glibc
import SafeFiles
import Synchronization
import TestSupport

/// libFuzzer's entry points, and the setup before them.
enum Fuzzing {
    struct Misuse: Error, CustomStringConvertible {
        var description: String {
            """
            usage: fuzzers list
                   fuzzers seeds FOLDER FIXTURES
                   fuzzers TARGET [LIBFUZZER'S WORDS…]
            """
        }
    }

    private static let current = Mutex<(target: any FuzzTarget, scratch: TemporaryDirectory)?>(nil)

    // MARK: Seeds

    /// Writes the seeds of every target to `folder/<target>/`, and its words to `folder/<target>.dict`.
    static func writeSeeds(into folder: String, fixtures: String) throws {
        let root = try Directory.open(path: folder)
        let scratch = try TemporaryDirectory(prefix: "fuzz-seeds")
        let corpus = Corpus.folder
        for target in FuzzTargets.all {
            scratch.directory.removeContents()
            let source = SeedSource(fixtures: fixtures, corpus: corpus, scratch: scratch.directory)
            let seeds = Set(try target.seeds(from: source)).filter { (1...target.mostBytes).contains($0.count) }
            try requireAccepted(seeds, by: target)
            try? root.openDirectory(target.name).removeContents()
            if try root.status(of: target.name) != nil { try root.removeDirectory(target.name) }
            let place = try root.createDirectory(target.name, mode: 0o755)
            // Their order must not depend on the run; libFuzzer sorts by size.
            let sorted = seeds.sorted { $0.lexicographicallyPrecedes($1) }
            for (number, seed) in sorted.enumerated() { try place.replace("\(number)", with: seed, mode: 0o644) }
            let dictionary = target.words.map { "\"\(Self.escaped($0))\"\n" }.joined()
            try root.replace(target.name + ".dict", with: Array(dictionary.utf8), mode: 0o644)
        }
    }

    /// Throws where the product accepts no seed of a target: fuzzing would then exercise refusals only.
    private static func requireAccepted(_ seeds: Set<[UInt8]>, by type: any FuzzTarget.Type) throws {
        guard !seeds.isEmpty else { throw UselessSeeds(target: type.name, problem: "there are none") }
        let scratch = try TemporaryDirectory(prefix: "fuzz-" + type.name)
        let target = try type.init(in: scratch.directory)
        var refusal: (any Error)?
        for seed in seeds.sorted(by: { $0.count < $1.count }) {
            do {
                return try target.run(seed)
            } catch {
                refusal = error
            }
        }
        let last = refusal.map { "\($0)" } ?? ""
        throw UselessSeeds(target: type.name, problem: "none of \(seeds.count) is accepted, the last for: \(last)")
    }

    private static func escaped(_ word: String) -> String {
        word.utf8
            .map { byte in
                switch byte {
                case 0x22, 0x5C: "\\" + String(UnicodeScalar(byte))
                case 0x20..<0x7F: String(UnicodeScalar(byte))
                default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }
            }
            .joined()
    }

    // MARK: Running

    /// Writes the seeds and ends the process, or prepares one target and passes libFuzzer its own arguments.
    fileprivate static func begin(
        _ count: inout Int32,
        _ words: inout UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) {
        do {
            let said = (1..<max(1, Int(count))).compactMap { words[$0].map { String(cString: $0) } }
            switch said.first {
            case "list":
                for target in FuzzTargets.all { print(target.name) }
                exit(0)
            case "seeds" where said.count == 3:
                try writeSeeds(into: said[1], fixtures: said[2])
                exit(0)
            case let name?:
                guard let type = FuzzTargets.named(name) else { throw Misuse() }
                let scratch = try TemporaryDirectory(prefix: "fuzz-" + type.name)
                let target = try type.init(in: scratch.directory)
                current.withLock { $0 = (target, scratch) }
                // Releases the state for all inputs, so that it is not reported as a leak.
                atexit { Fuzzing.end() }
                // Replaces the target's name; the caller's own option comes later and wins.
                words[1] = strdup("-max_len=\(type.mostBytes)")
            case nil: throw Misuse()
            }
        } catch {
            print("fuzzers: \(error)")
            exit(2)
        }
    }

    private static func end() { current.withLock { $0 = nil } }

    fileprivate static func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        current.withLock { current in
            do {
                try current?.target.run(Array(bytes))
            } catch {
                guard !isForPeople(error) else { return }
                fail("the product threw an undocumented error: \(type(of: error)): \(error)")
            }
        }
    }

    /// True for a documented error about the input; any other type escaped from a lower layer.
    private static func isForPeople(_ error: any Error) -> Bool { error is any FuzzedRefusal }

    /// Ends the process so that libFuzzer keeps the input.
    static func fail(_ message: String) -> Never {
        let line = Array("fuzzers: \(message)\n".utf8)
        _ = write(2, line, line.count)
        abort()
    }

    // MARK: Mutation

    fileprivate static func mutate(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ count: Int,
        _ limit: Int,
        _ seed: UInt32
    ) -> Int {
        var generator = SeededGenerator(seed: UInt64(seed))
        let input = Array(UnsafeBufferPointer(start: bytes, count: count))
        let result = current.withLock { $0?.target.mutate(input, limit: limit, using: &generator) }
        guard let result, !result.isEmpty, result.count <= limit else { return LLVMFuzzerMutate(bytes, count, limit) }
        bytes.update(from: result, count: result.count)
        return result.count
    }
}

/// libFuzzer's hook before the first input.
@_cdecl("LLVMFuzzerInitialize")
func beginForLibFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
    Fuzzing.begin(&count.pointee, &words.pointee)
    return 0
}

/// libFuzzer's hook for each input.
@_cdecl("LLVMFuzzerTestOneInput")
func takeForLibFuzzer(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    Fuzzing.take(UnsafeBufferPointer(start: bytes, count: count))
    return 0
}

/// libFuzzer's hook for changes of our own.
@_cdecl("LLVMFuzzerCustomMutator")
func mutateForLibFuzzer(
    _ bytes: UnsafeMutablePointer<UInt8>,
    _ count: Int,
    _ limit: Int,
    _ seed: UInt32
) -> Int {
    Fuzzing.mutate(bytes, count, limit, seed)
}
