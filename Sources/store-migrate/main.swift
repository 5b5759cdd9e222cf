import Glibc

exit(Launch.statusWithStack())
