import ChangeMerging
import FoundationEssentials
import SafeFiles
import StoreFormat

/// The addresses that objects of an old store have in the store they were merged into, read from a merge's records.
struct RekeyedAddresses {
    /// More than these are not held in memory: who asks is told to refresh everything instead.
    private static let most = 100_000
    private static let chunk = 1 << 16

    private var addresses: [ObjectURI: ObjectURI] = [:]
    /// False when there are more than can be held.
    private(set) var isComplete = true

    init(of epoch: String, in folder: Directory) throws {
        let name = MergeRecords.name(of: .rekeyed, epoch)
        guard try folder.status(of: name) != nil else { return }
        let file = try folder.openFile(name, for: .reading)
        let decoder = JSONDecoder()
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        var rest: [UInt8] = []
        var offset: Int64 = 0
        while isComplete {
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
            guard count > 0 else { break }
            offset += Int64(count)
            rest += buffer[..<count]
            var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
            rest = lines.popLast().map(Array.init) ?? []
            for line in lines where !line.isEmpty {
                let object = try decoder.decode(RekeyedObject.self, from: Data(line))
                addresses[object.old] = object.new
                isComplete = addresses.count <= Self.most
            }
        }
    }

    /// Where an object of the old store is now.
    subscript(_ address: ObjectURI) -> ObjectURI { addresses[address] ?? address }
}
