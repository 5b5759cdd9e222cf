extension ModelDecoder {
    /// The text of an archived expression of a derived attribute; nil for any other form.
    ///
    /// The supported forms are key paths, counts of a relationship, and functions of one key path or of no argument.
    func expression(_ object: KeyedArchiveReader.Object, depth: Int = 0) -> String? {
        guard depth < 4, let arguments = reader.elements(object.fields["NSArguments"]) else { return nil }
        switch object.className {
        case "NSKeyPathExpression":
            guard arguments.count == 1, let specifier = reader.object(arguments[0]) else { return nil }
            return reader.string(specifier.fields["NSKeyPath"])
        case "NSFunctionExpression":
            guard let function = reader.string(object.fields["NSSelectorName"]), arguments.count <= 1 else {
                return nil
            }
            guard let argument = arguments.first else { return function + "()" }
            let text = reader.object(argument).flatMap { expression($0, depth: depth + 1) }
            return text.map { function == "count:" ? $0 + ".@count" : "\(function)(\($0))" }
        default: return nil
        }
    }
}
