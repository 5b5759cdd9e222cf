import ManagedObjects
import StoreFormat

/// The text of an error, without the path of the scratch folder.
enum ProbeReason {
    static func text(of error: any Error) -> String {
        switch error {
        case let error as ManagedObjectError: error.description
        case let error as StoreError: error.message
        default: "\(error)"
        }
    }
}
