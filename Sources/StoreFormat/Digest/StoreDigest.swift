/// A digest of a store's whole content.
///
/// It covers each table's rows in key order with type and value, the schema and the external files. Equal digests mean
/// equal content, regardless of the page layout.
///
/// This package's fence is excluded.
public struct StoreDigest: Hashable, Sendable, Codable {
    /// The digest of one table.
    public struct Table: Hashable, Sendable, Codable {
        public let name: String
        public let rows: Int64
        /// SHA-256 in lower-case hexadecimal.
        public let digest: String

        public init(name: String, rows: Int64, digest: String) {
            self.name = name
            self.rows = rows
            self.digest = digest
        }
    }

    /// SHA-256 over all of the following, in lower-case hexadecimal.
    public let value: String
    /// SHA-256 of the schema.
    public let schema: String
    /// SHA-256 of the names and bytes of the external files; nil if there are none.
    public let externalFiles: String?
    public let tables: [Table]

    package init(value: String, schema: String, externalFiles: String?, tables: [Table]) {
        self.value = value
        self.schema = schema
        self.externalFiles = externalFiles
        self.tables = tables
    }
}
