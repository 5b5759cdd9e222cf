import StoreFormat

extension AttributeDescription.AttributeType {
    /// The class of the values, as a model archive names it.
    var valueClassName: String? {
        switch self {
        case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
        case .decimal: "NSDecimalNumber"
        case .string: "NSString"
        case .date: "NSDate"
        case .binaryData: "NSData"
        case .uuid: "NSUUID"
        case .uri: "NSURL"
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }
}
