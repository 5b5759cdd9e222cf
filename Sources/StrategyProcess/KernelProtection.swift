internal import CConfinement

/// The means by which this kernel can confine a program.
///
/// Landlock denies files since version 1, truncation of readable files since 3, TCP since 4, ioctl on devices since 5,
/// abstract sockets and signals since 6. Only files need Landlock: the system call filter (seccomp) denies all the
/// others, and more.
package struct KernelProtection: Hashable, Sendable {
    /// Less than 1 for none.
    package var landlockVersion: Int32
    package var filtersCalls: Bool

    /// The means of the running kernel.
    package static let current = KernelProtection(
        landlockVersion: cconfinement_landlock_version(),
        filtersCalls: cconfinement_filters_calls() != 0
    )

    /// What this kernel cannot deny a program.
    package var gaps: [PluginSandbox.Gap] {
        PluginSandbox.Gap.allCases.filter { gap in
            switch gap {
            case .files: landlockVersion < 1
            case .truncation: landlockVersion < 3 && !filtersCalls
            case .network, .attributes, .processGroup: !filtersCalls
            case .devices: landlockVersion < 5 && !filtersCalls
            case .signals: landlockVersion < 6 && !filtersCalls
            }
        }
    }
}
