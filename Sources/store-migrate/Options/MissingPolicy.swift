import ArgumentParser

/// Whether a store that is not there is a failure.
enum MissingPolicy: String, CaseIterable, ExpressibleByArgument {
    case fail
    case ignore
}
