import CFuzzing
import SafeFiles
import TestSupport

/// One entry point of the product for untrusted bytes.
protocol FuzzTarget: AnyObject, Sendable {
    /// The name on the command line.
    static var name: String { get }
    /// The maximum size of an input; larger ones are slow and find nothing new.
    static var mostBytes: Int { get }
    /// Words of the format that random changes are unlikely to produce.
    static var words: [String] { get }
    /// The initial inputs.
    static func seeds(from source: SeedSource) throws -> [[UInt8]]

    /// Prepares the state for all inputs, in `folder`.
    init(in folder: Directory) throws

    /// Passes one input to the product; throws the product's error, and leaves no file.
    func run(_ bytes: [UInt8]) throws

    /// Changes an input and corrects its checksums; nil to use libFuzzer's own mutation.
    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]?
}

extension FuzzTarget {
    static var words: [String] { [] }

    func mutate(_ bytes: [UInt8], limit: Int, using generator: inout SeededGenerator) -> [UInt8]? { nil }
}

/// All targets.
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
    /// Changes bytes anywhere, and perhaps the length.
    static func changed(_ bytes: [UInt8], limit: Int) -> [UInt8] {
        guard limit > 0 else { return bytes }
        let count = min(bytes.count, limit)
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, result in
            _ = buffer.initialize(from: bytes[..<count])
            for index in count..<limit { buffer.initializeElement(at: index, to: 0) }
            result = LLVMFuzzerMutate(buffer.baseAddress, count, limit)
        }
    }

    /// Changes some bytes from `start` on, without moving others.
    static func change(_ bytes: inout [UInt8], at start: Int, count: Int) {
        let end = min(start + count, bytes.count)
        guard start >= 0, start < end else { return }
        let changed = changed(Array(bytes[start..<end]), limit: end - start)
        bytes.replaceSubrange(start..<start + changed.count, with: changed)
    }
}
