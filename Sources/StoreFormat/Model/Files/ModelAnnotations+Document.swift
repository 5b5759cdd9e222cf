extension ModelAnnotations {
    /// Decodes the annotations of a model document.
    init(document root: XMLElement) {
        for element in root.children("entity") {
            guard let name = element.text("name") else { continue }
            var entity = Entity()
            entity.element = Element(userInfo: Self.userInfo(element))
            entity.fetchedProperties = element.children("fetchedProperty").compactMap(Self.fetchedProperty)
            for property in element.children
            where ["attribute", "relationship", "fetchedProperty"].contains(property.name) {
                guard let name = property.text("name"), let annotated = Element(userInfo: Self.userInfo(property))
                else {
                    continue
                }
                entity.properties[name] = annotated
            }
            if entity != Entity() { entities[name] = entity }
        }
    }

    private static func userInfo(_ element: XMLElement) -> [String: String] {
        let entries = element.children("userInfo").flatMap { $0.children("entry") }
        return Dictionary(
            entries.compactMap { entry in entry.text("key").map { ($0, entry.text("value") ?? "") } },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static func fetchedProperty(_ element: XMLElement) -> FetchedProperty? {
        guard let name = element.text("name"), let request = element.children("fetchRequest").first,
            let destination = request.text("entity")
        else { return nil }
        return FetchedProperty(name: name, destination: destination, predicate: request.text("predicateString"))
    }
}
