import SafeFiles
import StoreFormat

extension BackupManifest {
    /// The files of an archive in their order; a hundred thousand of them take a few megabytes.
    public struct Members: RandomAccessCollection, Hashable, Sendable {
        private static let sumBytes = 32

        private var names = NameList()
        private var sizes: [Int64] = []
        private var sums: [UInt8] = []
        /// The sums that are not written as 64 hexadecimal digits in lower case, by position.
        private var foreignSums: [Int: String] = [:]

        public init() {}

        public init(_ members: some Sequence<Member>) {
            for member in members { append(member) }
        }

        /// Reserves memory: a list that grows takes up to twice its size.
        mutating func reserveCapacity(_ count: Int, nameBytes: Int) {
            names.reserveCapacity(count, bytes: nameBytes)
            sizes.reserveCapacity(count)
            sums.reserveCapacity(count * Self.sumBytes)
        }

        public var startIndex: Int { 0 }
        public var endIndex: Int { sizes.count }

        public subscript(position: Int) -> Member {
            let sum = sums[(position * Self.sumBytes)..<((position + 1) * Self.sumBytes)]
            return Member(
                name: names[position],
                bytes: sizes[position],
                sha256: foreignSums[position] ?? SHA256.hexadecimal(digest: sum)
            )
        }

        mutating func append(_ member: Member) {
            let sum = SHA256.digest(hexadecimal: member.sha256)
            if sum == nil { foreignSums[count] = member.sha256 }
            names.append(member.name)
            sizes.append(member.bytes)
            sums += sum ?? [UInt8](repeating: 0, count: Self.sumBytes)
        }
    }
}

extension BackupManifest.Members: Codable {
    public init(from decoder: any Decoder) throws {
        self.init()
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd { append(try list.decode(BackupManifest.Member.self)) }
    }

    public func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        for member in self { try list.encode(member) }
    }
}
