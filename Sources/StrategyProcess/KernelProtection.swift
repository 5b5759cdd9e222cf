internal import CConfinement

/// By what means this kernel can keep a program from things.
///
/// Landlock keeps it from files since version 1, from cutting files that it may read since 3, from TCP since 4, from the
/// controls of devices since 5, from abstract sockets and signals since 6. Of these only the first needs Landlock: the
/// filter of calls takes all the others, and more, from the program altogether.
package struct KernelProtection: Hashable, Sendable {
    /// Less than 1 for none.
    package var landlockVersion: Int32
    package var filtersCalls: Bool

    /// What the kernel has.
    package static let current = KernelProtection(
        landlockVersion: cconfinement_landlock_version(),
        filtersCalls: cconfinement_filters_calls() != 0
    )

    /// What nothing here keeps a program from.
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
