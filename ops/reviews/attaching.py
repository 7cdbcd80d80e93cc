"""What came for a case, as an attachment: a text whole, anything else by its hash and where it is kept."""

from pathlib import PurePath

from ops.commands.reply import refuse
from schemas.ids import content_hash
from schemas.review import MAX_ATTACHED_CHARACTERS, Attachment


def attachment(path: str, content: bytes, reference: str) -> Attachment:
    """The attachment of a file.

    Raises:
        Failure: empty; or no text, or too long a one, and nobody says where it is kept.
    """
    if not content:
        refuse(f"{path}: is empty", "name the file that came")
    try:
        text = content.decode("utf-8")
        text = "" if "\x00" in text else text
    except UnicodeDecodeError:
        text = ""
    if len(text) > MAX_ATTACHED_CHARACTERS:
        text = ""
    if not text and not reference:
        refuse(
            f"{path}: is no text of up to {MAX_ATTACHED_CHARACTERS // 1024} K characters",
            "keep it where its officers can see it, and give that place with --reference",
        )
    name = "stdin" if path == "-" else PurePath(path).name[:200]
    return Attachment(
        name=name,
        content_hash=content_hash(content),
        size_bytes=len(content),
        reference=reference,
        text=text,
    )
