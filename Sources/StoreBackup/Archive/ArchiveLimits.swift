/// How much an archive may ask of whoever unpacks it; whoever makes one keeps to the same.
package struct ArchiveLimits: Sendable {
    /// The bytes of the manifest.
    package var manifestBytes = 16 << 20
    package var members = 100_000
    /// The bytes of one component of a member's name.
    package var nameBytes = 255
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

    /// The bytes of a stream that are read for members of so many bytes: what does not compress grows a little.
    func mostInput(for bytes: Int64) -> Int64 {
        let (sum, overflow) = bytes.addingReportingOverflow(bytes / 64 + unquestionedBytes)
        return overflow ? .max : sum
    }
}
