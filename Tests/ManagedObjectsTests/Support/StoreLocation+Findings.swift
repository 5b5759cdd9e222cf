import SafeFiles
import StoreAccess
import StoreVerification

extension StoreLocation {
    /// The findings of the Core Data level of verification, in order.
    func findingsOfCoreData() throws -> [String] {
        let connection = try StoreConnection(self, access: .liveReading)
        let files = try ExternalData.open(of: self, in: Directory.open(path: folder))
        return try StoreVerifier()
            .findings(in: connection, location: self, externalData: files, level: .coredata)
            .map { "\($0.code) \($0.message)" }
            .sorted()
    }
}
