public import ArgumentParser
public import StoreBackup
public import StoreMigration

/// The form that an archive is written in.
struct FormOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The layout: pax or zip. (default: what FILE ends in, else pax)", valueName: "format"))
    var format: BackupForm.Format?

    @Option(help: ArgumentHelp("zstd, gzip or none. (default: what FILE ends in, else zstd)", valueName: "method"))
    var compress: BackupForm.Compression?

    /// The form for a file of this name.
    func form(for name: String) throws -> BackupForm {
        let named = BackupForm(fileName: name)
        let format = format ?? named?.format ?? .pax
        let compression = compress ?? (named?.format == format ? named?.compression : nil)
        guard let form = BackupForm(format, compression) else {
            throw Failure(
                outcome: .usage,
                message: "zip does not support zstd compression",
                advice: "Use --compress gzip or none, or --format pax."
            )
        }
        return form
    }
}

extension BackupForm.Format: @retroactive ExpressibleByArgument {}
extension BackupForm.Compression: @retroactive ExpressibleByArgument {}
extension RestoreOptions.OverwritePolicy: @retroactive ExpressibleByArgument {}
