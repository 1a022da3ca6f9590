"""Artefacts in Allure reports, where Allure writes one."""

from __future__ import annotations

from pathlib import Path

ATTACHED = (
    ("recording", "conversation_log.wav", "audio/wav", "wav"),
    ("transcript", "conversation_log.txt", "text/plain", "txt"),
    ("metrics", "metrics.json", "application/json", "json"),
    ("judge", "judge_result.json", "application/json", "json"),
)


class AllureAttachments:
    """Attaches the files of a scenario to its Allure result. Made only where ``--alluredir`` is used."""

    def attach(self, folder: Path) -> None:
        """Attach what there is in a scenario's folder to the test that is being reported."""
        import allure  # type: ignore[import-untyped,unused-ignore] # noqa: PLC0415 - an optional package

        for name, file_name, kind, extension in ATTACHED:
            path = folder / file_name
            if path.exists():
                allure.attach.file(  # type: ignore[no-untyped-call,unused-ignore]
                    str(path), name=name, attachment_type=kind, extension=extension
                )
