"""Reads policy packs from `<root>/<policy>/v<version>/` and seals each by a hash over its files."""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemas.base import PackRef
from schemas.pack import PolicyPack
from streams.policies.check import problems

SHIPPED = Path(__file__).parent
"""Where the packs that come with the project live."""


class PackError(ValueError):
    """A pack that cannot be used; the message names the file and the field."""


class UnknownPackError(KeyError):
    """No pack of that policy and version is loaded; the message names what is."""

    def __init__(self, message: str, unquoted: str | None = None) -> None:
        super().__init__(message)
        self.unquoted = unquoted
        """The message without the name that was asked for: a client may write anything there."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class LoadedPack:
    """A parsed pack, the texts of its folder, and the hash that seals all of it."""

    pack: PolicyPack
    hash: str
    """`sha256:` over every file of the folder: sorted relative paths and bytes."""
    folder: Path
    prompts: dict[str, str] = field(default_factory=dict)
    """`prompts/<name>.md` by name."""
    templates: dict[str, str] = field(default_factory=dict)
    """`templates/<name>.md` by name."""
    offline: dict[str, Any] = field(default_factory=dict)
    """`offline.toml`, for the stand-in that plays the models; empty where there is none."""

    @property
    def ref(self) -> PackRef:
        """What every event carries to say which pack it was made under."""
        return PackRef(policy=self.pack.policy, pack_version=self.pack.version, pack_hash=self.hash)


class PackRegistry:
    """The packs of a process, by policy and version. Versions are kept side by side: a dispute
    finishes under the one it was opened with."""

    def __init__(self, packs: dict[tuple[str, int], LoadedPack]) -> None:
        self._packs = dict(packs)

    @classmethod
    def load(cls, *roots: Path | str) -> "PackRegistry":
        """Read every `<root>/<policy>/v<version>/pack.toml`; without roots the shipped packs.

        Raises:
            PackError: a pack that does not parse, a folder named otherwise than its pack says, or
                one policy and version in two places with different contents.
        """
        packs: dict[tuple[str, int], LoadedPack] = {}
        for root in roots or (SHIPPED,):
            for file in sorted(Path(root).glob("*/v*/pack.toml")):
                loaded = load_pack(file.parent)
                key = (loaded.pack.policy, loaded.pack.version)
                other = packs.get(key)
                if other is not None and other.hash != loaded.hash:
                    raise PackError(
                        f"{file}: {key[0]} version {key[1]} is also in {other.folder} with other "
                        "contents; raise `version` and the folder's name"
                    )
                packs.setdefault(key, loaded)
        return cls(packs)

    def get(self, policy: str, version: int) -> LoadedPack:
        """The pack a dispute is pinned to.

        Raises:
            UnknownPackError: not loaded; names what is.
        """
        try:
            return self._packs[policy, version]
        except KeyError:
            raise UnknownPackError(
                f"policy {policy!r} version {version} is not loaded; loaded: {self._names()}",
                f"policy: is not loaded in that version; loaded: {self._names()}",
            ) from None

    def latest(self, policy: str) -> LoadedPack:
        """The newest version of a policy, under which new disputes open.

        Raises:
            UnknownPackError: no version of it is loaded; names what is.
        """
        versions = [version for name, version in self._packs if name == policy]
        if not versions:
            raise UnknownPackError(
                f"policy {policy!r} is not loaded; loaded: {self._names() or 'none'}",
                f"policy: is not loaded; loaded: {self._names() or 'none'}",
            )
        return self._packs[policy, max(versions)]

    def __iter__(self) -> Iterator[LoadedPack]:
        return iter(self._packs[key] for key in sorted(self._packs))

    def __len__(self) -> int:
        return len(self._packs)

    def _names(self) -> str:
        return ", ".join(f"{policy} v{version}" for policy, version in sorted(self._packs))


def load_pack(folder: Path | str) -> LoadedPack:
    """Read one pack's folder.

    Raises:
        PackError: a missing or unreadable file, TOML or fields that are wrong, or a folder whose
            name is not `<policy>/v<version>`.
    """
    folder = Path(folder)
    pack = parse_pack(folder / "pack.toml")
    if folder.name != f"v{pack.version}" or folder.parent.name != pack.policy:
        raise PackError(
            f"{folder / 'pack.toml'}: policy {pack.policy!r} version {pack.version} belongs in a "
            f"folder {pack.policy}/v{pack.version}, not {folder.parent.name}/{folder.name}"
        )
    offline = folder / "offline.toml"
    return LoadedPack(
        pack=pack,
        hash=seal(folder),
        folder=folder,
        prompts=_texts(folder / "prompts"),
        templates=_texts(folder / "templates"),
        offline=_toml(offline) if offline.exists() else {},
    )


def check_pack(folder: Path | str) -> list[str]:
    """Everything wrong with a pack's folder, for `refund-bench pack check`; empty where nothing is.

    Each problem reads `file: field: what; remedy`.
    """
    try:
        loaded = load_pack(folder)
    except PackError as error:
        return [str(error)]
    file = loaded.folder / "pack.toml"
    return [f"{file}: {problem}" for problem in problems(loaded.pack, loaded.prompts)]


def parse_pack(file: Path) -> PolicyPack:
    """`pack.toml`, validated.

    Raises:
        PackError: names the file and each field that is wrong.
    """
    try:
        return PolicyPack.model_validate(_toml(file))
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'pack'}: {fault['msg']}"
            for fault in error.errors()
        )
        raise PackError(f"{file}: {faults}") from None


def seal(folder: Path) -> str:
    """The hash over every file of a folder."""
    return seal_of(contents(folder))


def contents(folder: Path) -> dict[str, bytes]:
    """A pack's files: relative path → bytes."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in pack_files(folder)}


def seal_of(files: Mapping[str, bytes]) -> str:
    """The hash over a pack's files: sorted relative paths and bytes, each with its length."""
    digest = hashlib.sha256()
    for path, body in sorted(files.items()):
        for part in (path.encode(), body):
            digest.update(len(part).to_bytes(8, "big") + part)
    return "sha256:" + digest.hexdigest()


def pack_files(folder: Path) -> Iterator[Path]:
    """The files that make up a pack: all but hidden ones and Python's caches."""
    for file in folder.rglob("*"):
        parts = file.relative_to(folder).parts
        if file.is_file() and not any(p.startswith(".") or p == "__pycache__" for p in parts):
            yield file


def _texts(folder: Path) -> dict[str, str]:
    return {file.stem: _read(file) for file in sorted(folder.glob("*.md"))}


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise PackError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise PackError(f"{file}: is not UTF-8 at byte {error.start}") from None


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(file))
    except tomllib.TOMLDecodeError as error:
        raise PackError(f"{file}: is not TOML: {error}") from None
