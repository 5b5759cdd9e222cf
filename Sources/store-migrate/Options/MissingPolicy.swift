import ArgumentParser

/// Whether a missing store is a failure.
enum MissingPolicy: String, CaseIterable, ExpressibleByArgument {
    case fail
    case ignore
}
