"""A tqdm progress bar for long calls, if tqdm is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbfile._kbfile import Progress


class Bar:
    """Shows the progress of one call. Without tqdm it shows nothing."""

    def __init__(self) -> None:
        self._stage: str | None = None
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            self._tqdm: Any = None
        else:
            self._tqdm = tqdm

    def __call__(self, progress: Progress) -> None:
        if self._tqdm is None:
            return
        counts_files = progress.files_total > 0
        total = progress.files_total if counts_files else progress.bytes_total
        done = progress.files_done if counts_files else progress.bytes_done
        if progress.stage != self._stage:
            self.close()
            self._stage = progress.stage
            unit = {"unit": "file"} if counts_files else {"unit": "B", "unit_scale": True}
            self._bar = self._tqdm(total=total or None, desc=progress.stage, leave=False, **unit)
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
