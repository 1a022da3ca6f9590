"""The tool that reads a document."""

from __future__ import annotations

from typing import Any

from pytest_voiceeval import load_document
from pytest_voiceeval.tools import StandardSchemaTool, register_schema_tool_for_eval


@register_schema_tool_for_eval
class ReadFileTool(StandardSchemaTool):
    """Reads the documents of the scenario, by their path or by their name.

    The scenario brings their texts along in the shared state, so that a bot needs no copy of them. A
    document whose text did not come is read below the bot's own data root. Where the scenario names no
    documents, any text file below that root can be read; nothing outside of it ever can.
    """

    description = "Read one of the documents that you may consult."

    def __init__(
        self,
        *,
        shared_state: dict[str, Any] | None = None,
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(name=name, description=description)
        self.state: dict[str, Any] = {} if shared_state is None else shared_state

    @property
    def properties(self) -> dict[str, Any]:
        return {"file_path": {"type": "string", "description": "Path of the document, such as menu.txt."}}

    @property
    def required_properties(self) -> list[str]:
        return ["file_path"]

    async def _execute(self, file_path: str | None = None) -> dict[str, Any]:
        if not isinstance(file_path, str) or not file_path:
            raise ValueError("file_path is missing")
        return {"file_path": file_path, "content": self._content(file_path)}

    def _content(self, wanted: str) -> str:
        documents: dict[str, dict[str, Any]] | None = self.state.get("documents")
        if documents is None:
            return load_document(wanted)
        for name, document in documents.items():
            if wanted in (name, document["path"]):
                text: str | None = document["text"]
                return load_document(document["path"]) if text is None else text
        known = ", ".join(document["path"] for document in documents.values())
        raise LookupError(f"there is no document {wanted!r}; there are: {known}")
