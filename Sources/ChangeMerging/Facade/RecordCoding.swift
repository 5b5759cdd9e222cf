package import FoundationEssentials

/// How values of stores are written as JSON beside a journal, and read back.
///
/// JSON has no infinities, and stores may contain them. They are written as strings, which no number is.
package enum RecordCoding {
    private static let (infinity, negativeInfinity, notANumber) = ("inf", "-inf", "nan")

    package static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: infinity,
            negativeInfinity: negativeInfinity,
            nan: notANumber
        )
        return encoder
    }

    package static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinity,
            negativeInfinity: negativeInfinity,
            nan: notANumber
        )
        return decoder
    }
}
