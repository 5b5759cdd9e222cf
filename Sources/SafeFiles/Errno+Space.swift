package import SystemPackage

extension Errno {
    /// True if the disk or a quota is full.
    package var isOutOfSpace: Bool { self == .noSpace || self == .diskQuotaExceeded }

    /// True if this process, or the whole system, has reached the limit of open files.
    package var isOutOfDescriptors: Bool { self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem }
}
