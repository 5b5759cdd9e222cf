package import StoreFormat

extension RowWriter {
    /// Converts typed values of attributes to the form of ``insert(_:_:toOne:)`` and ``update(_:_:expecting:)``.
    ///
    /// Throws ``StoreError`` with the code `incompatible` if a value does not fit its attribute.
    package func stored(_ values: [String: AttributeValue], for entity: String) throws -> [String: SQLValue] {
        let plan = try plan(of: entity)
        var result: [String: SQLValue] = [:]
        for (name, value) in values {
            let attribute = try settable(name, in: plan)
            // Large values are passed as bytes: the writer decides which of them go to files.
            guard let stored = value.converted(to: attribute.description.type)?.plainlyStored else {
                throw unfit("the value does not fit the type of \(entity).\(name)")
            }
            result[name] = stored
        }
        return result
    }
}
