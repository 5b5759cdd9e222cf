package import SystemPackage

extension Errno {
    /// True when the kernel had no room left, on the disk or in somebody's quota.
    package var isOutOfSpace: Bool { self == .noSpace || self == .diskQuotaExceeded }

    /// True when this process, or all together, have as many files open as the kernel allows.
    package var isOutOfDescriptors: Bool { self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem }
}
