package import SystemPackage

extension Errno {
    /// True if permissions or a read-only file system prevented the operation.
    package var isRefusal: Bool { self == .permissionDenied || self == .notPermitted || self == .readOnlyFileSystem }
}
