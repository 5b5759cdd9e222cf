package import SystemPackage

extension Errno {
    /// True when the kernel let this user not do it: for want of a permission, or because nobody may write there.
    package var isRefusal: Bool { self == .permissionDenied || self == .notPermitted || self == .readOnlyFileSystem }
}
