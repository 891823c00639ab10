"""Compressed parts (documents.md)."""

try:
    from compression import zstd
except ImportError:
    from backports import zstd

from .errors import Damaged


def unzstd(frame, size, dictionary=b""):
    """The content of one frame of `size` bytes."""
    kind = zstd.ZstdDict(dictionary, is_raw=True) if dictionary else None
    decompressor = zstd.ZstdDecompressor(zstd_dict=kind)
    try:
        found = decompressor.decompress(frame, max_length=size + 1)
    except zstd.ZstdError as error:
        raise Damaged(f"a zstd frame: {error}") from error
    if len(found) != size or not decompressor.eof or decompressor.unused_data:
        raise Damaged("a zstd frame has another length")
    return found
