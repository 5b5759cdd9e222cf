/// How an archive is laid out and compressed.
public struct BackupForm: Hashable, Sendable {
    /// The layout.
    public enum Format: String, Sendable, Codable, CaseIterable {
        /// A tar file as POSIX 2001 defines it.
        case pax
        case zip
    }

    /// The compression; a zip file deflates where it says `gzip`.
    public enum Compression: String, Sendable, Codable, CaseIterable {
        case zstd
        case gzip
        case none
    }

    public let format: Format
    public let compression: Compression

    /// Nil for a zip file compressed by zstd, which few programs read.
    public init?(_ format: Format, _ compression: Compression? = nil) {
        guard format != .zip || compression != .zstd else { return nil }
        self.format = format
        self.compression = compression ?? (format == .zip ? .gzip : .zstd)
    }

    private init() {
        format = .pax
        compression = .zstd
    }

    /// A tar file compressed by zstd.
    public static let standard = BackupForm()

    /// Every supported form.
    public static let all: [BackupForm] = Format.allCases.flatMap { format in
        Compression.allCases.compactMap { BackupForm(format, $0) }
    }

    /// The usual end of the file's name, with its dot.
    public var fileNameEnd: String {
        switch (format, compression) {
        case (.zip, _): ".zip"
        case (.pax, .zstd): ".tar.zst"
        case (.pax, .gzip): ".tar.gz"
        case (.pax, .none): ".tar"
        }
    }

    /// The form that a file's name ends with; nil for any other ending.
    public init?(fileName: String) {
        let name = fileName.lowercased()
        guard let form = Self.all.filter({ name.hasSuffix($0.fileNameEnd) }).first else { return nil }
        self = form
    }
}
