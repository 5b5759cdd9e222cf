#if canImport(Glibc)
import Glibc
#endif

/// The version of the running kernel.
package struct KernelRelease: Hashable, Sendable {
    /// The release string of the kernel, such as `6.12.3-amd64`.
    package let text: String
    package let major: Int
    package let minor: Int

    /// True from 6.13 on, where every change after a stat gives the file a new timestamp.
    package var hasFineTimestamps: Bool { (major, minor) >= (6, 13) }

    /// Parses a release such as `6.18.2-amd64`.
    package init?(_ release: String) {
        let numbers = release.split(whereSeparator: { !$0.isNumber })
        guard numbers.count >= 2, let major = Int(numbers[0]), let minor = Int(numbers[1]) else { return nil }
        text = release
        self.major = major
        self.minor = minor
    }

    /// The running kernel's release, if it can be parsed.
    package static let current: KernelRelease? = {
        var names = utsname()
        guard uname(&names) == 0 else { return nil }
        return withUnsafeBytes(of: names.release) { bytes in
            KernelRelease(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
    }()

    /// The resolution in seconds of the coarse clock, with which most kernels set file times.
    package static let timestampTick: Double? = {
        var resolution = timespec()
        guard clock_getres(CLOCK_REALTIME_COARSE, &resolution) == 0 else { return nil }
        return Double(resolution.tv_sec) + Double(resolution.tv_nsec) / 1e9
    }()
}
