package import SystemPackage

extension Errno {
    /// True if the disk or a quota is full, or the file may not grow (`ulimit -f`).
    package var isOutOfSpace: Bool { [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(self) }

    /// True if this process, or the whole system, has reached the limit of open files.
    package var isOutOfDescriptors: Bool { self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem }
}
