package import SystemPackage

extension Errno {
    /// True when the kernel had no room left, on the disk or in somebody's quota.
    package var isOutOfSpace: Bool { self == .noSpace || self == .diskQuotaExceeded }
}
