package import StoreFormat

extension RowWriter {
    /// Turns typed values of attributes into what ``insert(_:_:toOne:)`` and ``update(_:_:expecting:)`` take.
    ///
    /// Throws ``StoreError`` with the code `incompatible` where an attribute does not take the value given for it.
    package func stored(_ values: [String: AttributeValue], for entity: String) throws -> [String: SQLValue] {
        let plan = try plan(of: entity)
        var result: [String: SQLValue] = [:]
        for (name, value) in values {
            let attribute = try settable(name, in: plan)
            // Large values are given as bytes: which of them lie in files is the writer's own choice.
            guard let stored = value.converted(to: attribute.description.type)?.plainlyStored else {
                throw unfit("the value does not fit the type of \(entity).\(name)")
            }
            result[name] = stored
        }
        return result
    }
}
