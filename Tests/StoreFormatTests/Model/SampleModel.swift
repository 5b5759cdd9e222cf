import FoundationEssentials

/// Archives written out as text, for tests of the decoders.
enum SampleModel {
    /// A model cache: Habit (abstract) with its subentity Goal, and Streak; made with Python's plistlib.
    static let cache = bytes(
        """
        dVYHeBTHFf637x4ITqLKAkQRXQhEN5giEEICdJS7kwRqrO5W0sHqTtyugDNtKDYGQgwh2CEEYx01Ng6xA7hBimMnxJgOMZDYCcW4
        JHEhkJDYxJndO4Fk2afv0+7M/O/N//735s1W1OoBwxw06AIYsODAQ4DIOJk2s9PUsK86sFALF6WFKuZpPtPwpJmh2qI0OmUEQsFy
        Z2uXe6oW0fxZceBB5xxIkNEKiWiLDngIndEVPdALfZGOgRiMYRiJcZgBDwpRhNmoRBXmQ0ctTNQhgkexHCtA8H08iS34IZ7Gj/AT
        ityBXdiPg3gJh/EKXsdRHMObdL6SWpvUbjnewnm8i0u4jD/hz3i/ydrT+Av1uoV6/ZyuvEnf/4UvGYbhGIVxMC28acE6XT8HBQ60
        QMuiNJ+uGoZmzIm9BNUaLYqWSCh3tnW589WgWqX5p9uK5If8ml7kcsdGMQ+t4YzCaaHbU3mCoUVBqpGRHfCZVDM1HMmMwZLQJoo2
        FiylESxfra0NBKvcZlg1taoGbDu0j6I9Egpd7qxwWI3EZjsiOYpky0Mbl3tS0AyYkWzN8IUDtdZOMUwKOkXRKY7JrzPVCl17QCWG
        6YLUKFLjhLNMMxyoqDO1Zq66oXsU3S1Ysss9S9NVa8moDtQ2Q6ahZxQ97dDKXe4Z4VCtFm7CjU4tjm/eG32i6GNhW98nSKOnGsTW
        +6F/FP2R4HW53Vpc4QHIiCLDsungcudopq86L+jXFjfjMQiZUWRauC6NcZN0rUYLms3gQzA0iqEWvLPLna2FaUX7v1uO4RgRxQgk
        FFAszdV5PIxRGI1HMAZjC2KFMyeeloBm2KVTEDs3eX66e6AyQEeEIQVk9mVqOx5ZmICJyMYk5GAycpGHKZiKacinfy5ML2nIsYuW
        Y7mz43dEblBcnpFVYdAK8pkl9+WnHEqphHUVWpyRPaIr9jhS5nJ7g4EFdZqnrlbXLOZeQwvnBStDRCDDSKZCHiEgg8jQizbXGM9c
        zMQsys5NJpKpJLHpkhcFFnUyjUwvqrP20DW/135corg5KEYJSlGGcsyFigr44IafBqwh366F+8p7IrVamZWQSrVONwtUvU4ratCC
        8szR1SqDHh077um2Bqpe9qDsYnLRyrYtPWE1aFSGwjVa2FogUiJ7lLR1Okk7b211yAx9G7dqK0QEKLd5yE/kPnLypEMhFVyl8jfG
        18TxQRsfpPgQ8kstWvauAaq0EyT5HDVZgDAMepozzAAl0brHuLuwf4WGqYZNzf9uI7cxpwuxyHa62KKwhqSQTsU0xZo6f2KIqvtN
        /BIsjZNYRlPQKpFJJ10KY3ijwG0/r1CTlViF1TTONXgMj1PDtXgC67AeGyj3qdQ4iO9hY4mlva6Z2qw6XbP7CC03MxC0z38sDeXO
        djTMoHUvaI07Q7Gdk7CfVpl/jtU6F9tsrddA0H6lhVz+LQ7t3MhOlrQhaaQr6eatVisCdpQxyjG6T2ATjXEz/b8JP3AypDvp4fGr
        EaO5elupGutpOE8h33mc9CygKldpZnPcNor7McVtpyozt0kS6V1YEfFYRXuBYp/BTop7FvUUEaWxZRk+LeinreobjSjeYKzCJQky
        6WdlfDf2YC8NPCN+lRK+HvtIf+vMlOCneA7P4wAN5gX8LF7/jT0ZxfFxrJjpZjNomQRU3Z6cQdUN+GgPIi1JOulr7fZzvIii2XQ3
        w26lxNFA4Rf1OEQyGkZH6vEyGdgwerUer5EBZfYZTe8ar8RyZy+6m9W4DJMyyaWPUDjiCdXQDhMKavdPqWE1wF9SP7/Cr/GGVdrz
        6XVGxHr8hgypx2/JYG+ulcMHsN/h5F78HsfxB7yNE3iHDCcjyEjyMBlFRu/FKZzGGZzFOWwm7UlH8hDpTFKtJCTjAi7ij3aaTpVa
        N1Gl1cR8Wl623WS9VJKwHqFRN3QAojS124TTTSfW4UzTiSs46+SaTgVwrunEe9jsFDyTQ6r+IKS/4qN9uIpruI4b+AA38SHJJpNI
        DplMckkembIPH+MT/A1/xz/wKT4jY8hYMo6MJ1lkAunzwM0XuB3FLfyT5BNXFHewgfRqyNG/d+Eu/oP/khlkJpllMfoK9/A/fM2A
        st7ksUQv0LVglVldGP9MIxxxx80Zdhdl7sZ6uhfDMwIjMhIjlxqa9aUX//QoWGj1SYOwxEO8MwfPzLRtmZZMAmkRZVoxrUkhKTrL
        JDJJnnAoZBJnEpjHn6Uffcn0Qy+dXrejMM3+sEpiUpheTH9mAjOV8TCzmTCzhCHMM8w+5gBziDnGvMFcYq4yN5mvWIF1sD3YdDaT
        zWcL2GI2wq5i17Lb2Ci7j32BPcK+zl5k32evczyXwCVxg7nR3HhuMufhirlKbhm3glvJreb2c4e5M9x73CfcXV7k2/Fd+e58Gt+L
        78335fvzA/iBfDafw+fyU/hyXuV9vM6H+S38Hv4Qf4w/zl/kb/D3+K8FVuAFUZCFVsJAYbAwVBgujBXKhRohJCwQHhVWCWuEjcJW
        4SXhsPCy8KrwlnBNuCF8KHwsfCHcFbuJGWK2WCJWi4a4XNwmbhd3iDvFenGXuEd8Xjwuvi2+I54Sz4ufi7fE2+KXUkcpReospUq9
        pZFStlQmzZVUySfp0iIpIi2VlktbpD3Si9IJ6aR0WjorXZFuSDelz6Rb0m3pngyZlVvIrWSnnCrnyl65VC6XK2S/XCUH5JC8VF4n
        b5A3yk/Km+Ut8lY5Ku+W98r75efkA/Ix+YR8Tb4h31FEpYOSrPRTRitjlAnKdKVMmatUKH6lUqlW5im6skRZpqxQViqrlceUtco6
        5Sllu7JD2ansVvYqB5UjyivKa8pR5aRyTrmsXFWuKx8onyp3HKzD6ejgSHakODo7Uh3dHP0c6Y5MxxDHMMcoxzhHVuyaY9nYk2mL
        Jj9Hzv8B
        """
    )

    /// The bytes of a base64 text, which may span lines.
    static func bytes(_ text: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: text.filter { !$0.isWhitespace }) ?? Data())
    }
}
