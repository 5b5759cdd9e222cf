import StoreAccess
import StoreFormat
import StoreMigration

extension StoreCondition {
    /// The store; throws a failure that says what is there instead.
    func requireStore(at location: StoreLocation) throws -> StoreInspection {
        switch self {
        case .store(let inspection): return inspection
        case .absent:
            throw Failure(
                outcome: .nothingFound,
                message: "there is no store",
                path: location.path,
                advice: "Check the path."
            )
        case .emptyFile:
            throw Failure(
                outcome: .nothingFound,
                message: "the file is empty, not a store",
                path: location.path,
                advice: "Check the path, or remove the file."
            )
        case .orphanSidecar(let names):
            throw Failure(
                outcome: .orphanSidecar,
                message: "\(names.joined(separator: ", ")) without its main file",
                path: location.path,
                advice: "Put the main file back beside it, or move the leftover file away."
            )
        case .unreadable(let reason): throw reason
        }
    }
}
