import Glibc

exit(Launch.status())
