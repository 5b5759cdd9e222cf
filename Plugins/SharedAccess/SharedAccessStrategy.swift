public import StoreStrategies

/// Lets programs of several users write the store: its files get a mode and a group.
public struct SharedAccessStrategy: StoreStrategy {
    private static let defaultMode: UInt32 = 0o660
    private static let longestGroup = 64

    public let name = "SharedAccess"

    public let documentation = StrategyDocumentation(
        summary: "Lets programs of several users write the store: its files get a mode and a group.",
        sets: [.posixMode, .posixGroup],
        options: [
            StrategyDocumentation.Option(
                "mode",
                "The permission bits of the files, in octal; the owner can read and write, and others cannot write.",
                defaultValue: "0660"
            ),
            StrategyDocumentation.Option(
                "group",
                "The name or number of the group; by default that of the folder of the new store."
            ),
        ],
        example: "SharedAccess:mode=0660,group=habits",
        notApplicable: "It applies to every store; folders created beside the store pass their group on to new files."
    )

    public init() {}

    public func evaluate(_ request: StrategyRequest) throws -> Applicability {
        _ = try describe(request)
        return .applicable
    }

    public func describe(_ request: StrategyRequest) throws -> DescriptionChanges {
        var changes = DescriptionChanges()
        changes.posixMode = try mode(request.options)
        changes.posixGroup = try group(request.options)
        return changes
    }

    private func mode(_ options: StrategyOptions) throws(StrategyError) -> UInt32 {
        guard let text = options["mode"] else { return Self.defaultMode }
        guard let bits = PosixMode.bits(text), bits & ~0o777 == 0, bits & 0o600 == 0o600, bits & 0o002 == 0 else {
            throw .invalidOption(
                "mode",
                text,
                of: name,
                expected: "octal digits such as 0660, with which the owner can read and write and others cannot write"
            )
        }
        return bits
    }

    private func group(_ options: StrategyOptions) throws(StrategyError) -> String? {
        guard let group = options["group"] else { return nil }
        let isName = group.utf8.allSatisfy { byte in
            byte == 0x5F || byte == 0x2D || byte == 0x2E || (0x30...0x39).contains(byte)
                || (0x61...0x7A).contains(byte | 0x20)
        }
        guard !group.isEmpty, group.utf8.count <= Self.longestGroup, isName else {
            throw .invalidOption("group", group, of: name, expected: "the name or number of a group")
        }
        return group
    }
}
