import ManagedObjects
import StoreFormat

/// Says why something was refused, without the scratch folder that nobody knows of.
enum ProbeReason {
    static func text(of error: any Error) -> String {
        switch error {
        case let error as ManagedObjectError: error.description
        case let error as StoreError: error.message
        default: "\(error)"
        }
    }
}
