"""Why a file cannot be read (damage.md)."""


class Damaged(Exception):
    """Bytes contradict a checksum or a rule."""


class Unsupported(Exception):
    """The file needs a newer reader."""


class NotAKb(Exception):
    """The file is something else."""
