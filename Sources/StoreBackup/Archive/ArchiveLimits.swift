/// How much an archive may ask of whoever unpacks it; whoever makes one keeps to the same.
package struct ArchiveLimits: Sendable {
    /// The bytes of the manifest; a member takes a few hundred.
    package var manifestBytes = 64 << 20
    package var members = 250_000
    /// The bytes of the manifest without its members.
    package var manifestFrameBytes = 16 << 20
    /// What these may consist of.
    package var manifestParts = 2_000_000
    /// The bytes that the manifest may tell one member with.
    package var memberTextBytes = 8 << 10
    /// The bytes of one component of a member's name.
    package var nameBytes = 255
    /// The bytes of the table of contents that a zip file ends with.
    package var contentsBytes: Int64 = 32 << 20
    /// What the members may hold for each byte of the archive, beyond `unquestionedBytes`.
    package var ratio: Int64 = 200
    /// What they may hold whatever the archive's size.
    package var unquestionedBytes: Int64 = 64 << 20

    package init() {}

    /// The bytes that an archive of so many bytes may hold.
    func mostBytes(from archiveBytes: Int64) -> Int64 {
        let (product, overflow) = archiveBytes.multipliedReportingOverflow(by: ratio)
        let (sum, second) = product.addingReportingOverflow(unquestionedBytes)
        return overflow || second ? .max : sum
    }

    /// The bytes of an archive that are read for members of so many bytes: what does not compress grows a little, and
    /// each has a header.
    func mostInput(for bytes: Int64, members: Int = 1) -> Int64 {
        let (headers, overflow) = Int64(members).multipliedReportingOverflow(by: 4096)
        let (content, second) = bytes.addingReportingOverflow(bytes / 64 + 1 << 20)
        let (sum, third) = content.addingReportingOverflow(headers)
        return overflow || second || third ? .max : sum
    }
}
