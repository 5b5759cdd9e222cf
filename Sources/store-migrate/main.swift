import Glibc

exit(Launch.status(of: CommandLine.arguments))
