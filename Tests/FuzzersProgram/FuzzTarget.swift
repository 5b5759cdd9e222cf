import CFuzzing
import SafeFiles
import TestSupport

/// One way into the product for bytes that nobody vouches for.
protocol FuzzTarget: AnyObject, Sendable {
    /// What it is called on the command line.
    static var name: String { get }
    /// The greatest input; more would be slow and find nothing else.
    static var mostBytes: Int { get }
    /// Words that the format knows and that chance would hardly hit upon.
    static var words: [String] { get }
    /// What to begin with.
    static func seeds(from source: SeedSource) throws -> [[UInt8]]

    /// Prepares what all inputs have in common, in a folder of its own.
    init(in folder: Directory) throws

    /// Hands one input to the product; throws what the product does, and leaves nothing behind.
    func run(_ bytes: [UInt8]) throws

    /// Changes an input in a way that leads past checksums; nil where libFuzzer's own way is the right one.
    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]?
}

extension FuzzTarget {
    static var words: [String] { [] }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? { nil }
}

/// The targets there are.
enum FuzzTargets {
    static let all: [any FuzzTarget.Type] = [
        DatabaseTarget.self, WriteAheadLogTarget.self, MetadataTarget.self, ModelCacheTarget.self, ArchiveTarget.self,
        ManifestTarget.self, WireTarget.self, PredicateTarget.self, RecipeTarget.self, RelayTarget.self,
        JournalTarget.self, ModelFileTarget.self, ScenarioTarget.self,
    ]

    static func named(_ name: String) -> (any FuzzTarget.Type)? { all.first { $0.name == name } }
}

/// libFuzzer's own changes to bytes.
enum Mutation {
    /// Changes all of it, and perhaps its length.
    static func changed(_ bytes: [UInt8], limit: Int) -> [UInt8] {
        guard limit > 0 else { return bytes }
        let count = min(bytes.count, limit)
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, result in
            _ = buffer.initialize(from: bytes[..<count])
            for index in count..<limit { buffer.initializeElement(at: index, to: 0) }
            result = LLVMFuzzerMutate(buffer.baseAddress, count, limit)
        }
    }

    /// Changes some bytes from `start` on, and leaves all others where they are.
    static func change(_ bytes: inout [UInt8], at start: Int, count: Int) {
        let end = min(start + count, bytes.count)
        guard start >= 0, start < end else { return }
        let changed = changed(Array(bytes[start..<end]), limit: end - start)
        bytes.replaceSubrange(start..<start + changed.count, with: changed)
    }
}
