import ChangeMerging
import FoundationEssentials
import SafeFiles

/// Reads, line by line, the objects whose address a merge changed.
enum RekeyedLines {
    private static let chunk = 1 << 16

    /// All objects.
    static func all(in folder: Directory, named name: String) throws -> [RekeyedObject] {
        var objects: [RekeyedObject] = []
        try forEach(in: folder, named: name) { object in
            objects.append(object)
            return true
        }
        return objects
    }

    /// Calls `body` with each object until it returns false; a missing file has none.
    static func forEach(in folder: Directory, named name: String, _ body: (RekeyedObject) throws -> Bool) throws {
        guard try folder.status(of: name) != nil else { return }
        let file = try folder.openFile(name, for: .reading)
        let decoder = JSONDecoder()
        var buffer = [UInt8](repeating: 0, count: chunk)
        var rest: [UInt8] = []
        var offset: Int64 = 0
        while true {
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
            guard count > 0 else { return }
            offset += Int64(count)
            rest += buffer[..<count]
            var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
            rest = lines.popLast().map(Array.init) ?? []
            for line in lines where !line.isEmpty {
                guard try body(decoder.decode(RekeyedObject.self, from: Data(line))) else { return }
            }
        }
    }
}
