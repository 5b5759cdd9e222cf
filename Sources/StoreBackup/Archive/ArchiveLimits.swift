/// The limits that reading an archive enforces; an archive that exceeds them is not written either.
package struct ArchiveLimits: Sendable {
    /// The bytes of the manifest; a member takes a few hundred.
    package var manifestBytes = 64 << 20
    package var members = 250_000
    /// The bytes of the manifest without its members.
    package var manifestFrameBytes = 16 << 20
    /// The number of values, names and brackets in these bytes.
    package var manifestParts = 2_000_000
    /// The bytes of one member's entry in the manifest.
    package var memberTextBytes = 8 << 10
    /// The bytes of one component of a member's name.
    package var nameBytes = 255
    /// The bytes of the table of contents that a zip file ends with.
    package var contentsBytes: Int64 = 32 << 20
    /// The bytes that the members may have for each byte of the archive, beyond `unquestionedBytes`.
    package var ratio: Int64 = 200
    /// The bytes that the members may have in an archive of any size.
    package var unquestionedBytes: Int64 = 64 << 20

    package init() {}

    /// The bytes to which an archive of `archiveBytes` may unpack.
    func mostBytes(from archiveBytes: Int64) -> Int64 {
        let (product, overflow) = archiveBytes.multipliedReportingOverflow(by: ratio)
        let (sum, second) = product.addingReportingOverflow(unquestionedBytes)
        return overflow || second ? .max : sum
    }

    /// The most bytes of an archive that are read for members of `bytes`: incompressible content grows a little, and each
    /// member has a header.
    func mostInput(for bytes: Int64, members: Int = 1) -> Int64 {
        let (headers, overflow) = Int64(members).multipliedReportingOverflow(by: 4096)
        let (content, second) = bytes.addingReportingOverflow(bytes / 64 + 1 << 20)
        let (sum, third) = content.addingReportingOverflow(headers)
        return overflow || second || third ? .max : sum
    }
}
