"""Input as UTF-8: text in other encodings, and the one file in a zip file."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
import zlib
from typing import TYPE_CHECKING, BinaryIO

from hierdata.ground.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ENCODINGS = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "iso8859-2", "iso8859-15"),
    *("iso8859-5", "iso8859-7", "iso8859-9", "cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "cp437"),
    *("cp850", "cp852", "cp866", "koi8-r", "koi8-u", "mac-roman", "shift_jis", "cp932", "euc_jp", "euc_kr"),
    *("cp949", "gb18030", "gbk", "big5"),
)
"""The encodings that a policy may state; other names of theirs are accepted too."""
STATE_ENCODING = "state its `encoding`, such as latin-1 or cp1252"
BOMB_RATIO = 200
"""Maximum decompressed bytes per compressed byte, checked after ``BOMB_START`` decompressed bytes."""
BOMB_START = 10 * 1024 * 1024
ZIP_MAGIC = b"PK\x03\x04"
_CHUNK = 1 << 16
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(r"""(<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')""")
_KNOWN = {codecs.lookup(name).name: name for name in ENCODINGS}


def name_encoding(name: str) -> str:
    """Return the name of an encoding in ``ENCODINGS``. Raises ValueError for another one.

    >>> name_encoding("ISO-8859-1"), name_encoding("windows-1252")
    ('latin-1', 'cp1252')
    """
    try:
        known = _KNOWN.get(codecs.lookup(name).name)
    except (LookupError, ValueError):
        known = None
    if known is None:
        raise ValueError(f"must be one of {', '.join(ENCODINGS)}")
    return known


def find_mark(head: bytes) -> str | None:
    """Return the encoding that the first bytes mark, None without a mark of UTF-16 or UTF-32."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


class Unpacking(io.RawIOBase):
    """Bytes that are made of those of another stream, which is closed with this one."""

    def __init__(self, origin: BinaryIO) -> None:
        self._origin = origin

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the original stream too."""
        self._origin.close()
        super().close()


def transcode(stream: BinaryIO, encoding: str) -> BinaryIO:
    """Return a stream as UTF-8, without a mark; an XML declaration no longer names an encoding.

    Reading raises InputError for bytes that are no text in the encoding.
    """
    return io.BufferedReader(_Transcoder(stream, encoding), _CHUNK)


class _Transcoder(Unpacking):
    """Text in one encoding, as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        super().__init__(stream)
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._pending = b""
        self._passed = 0
        self._ended = False

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer with UTF-8; return the number of bytes, 0 at the end."""
        view = memoryview(buffer)
        while not self._pending and not self._ended:
            self._pending = self._next_chunk()
        taken = self._pending[: len(view)]
        view[: len(taken)] = taken
        self._pending = self._pending[len(taken) :]
        return len(taken)

    def _next_chunk(self) -> bytes:
        first, chunk = self._passed == 0, self._origin.read(_CHUNK)
        self._ended = not chunk
        if first and chunk.startswith(codecs.BOM_UTF8) and self._encoding != "utf-8":
            raise InputError(f"the file has the mark of UTF-8, but the stated encoding is {self._encoding}")
        try:
            text = self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            position = self._passed + len(chunk) - len(error.object) + error.start
        except UnicodeError:  # UTF-16 without a mark
            position = 0
        else:
            self._passed += len(chunk)
            if first:
                text = _DECLARED.sub(r"\1", text.removeprefix("\ufeff"), count=1)
            return text.encode("utf-8", "replace")
        raise InputError(f"byte {position + 1} of the file is no text in the encoding {self._encoding}")


def find_member(file: BinaryIO) -> zipfile.ZipInfo:
    """Return the one file in a zip file. Raises InputError where there is not exactly one."""
    try:
        with zipfile.ZipFile(file) as packed:
            members = [
                member
                for member in packed.infolist()
                if not member.is_dir() and not _is_aside(member.filename)
            ]
    except zipfile.BadZipFile:
        members = []
        message = "the zip file is damaged"
    else:
        message = f"the zip file has {len(members)} files, not one: unpack it, and name a file or the folder"
    if len(members) != 1:
        raise InputError(message)
    return members[0]


def _is_aside(name: str) -> bool:
    """Return whether a member is what systems add by themselves."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


class Unzip(Unpacking):
    """The one file in a zip file, unpacked in bounded pieces."""

    def __init__(self, packed: io.BufferedReader) -> None:
        super().__init__(packed)
        member = find_member(packed)
        self._size = max(member.compress_size, 1)
        self._out = 0
        message = ""
        try:
            self._member = zipfile.ZipFile(packed).open(member)  # noqa: SIM115  closed with the stream
        except (RuntimeError, NotImplementedError):
            message = "the zip file has a password, or a compression that is not known: unpack it yourself"
        except zipfile.BadZipFile:
            message = "the zip file is damaged"
        if message:
            raise InputError(message)

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer with unpacked bytes; return their number, 0 at the end."""
        view = memoryview(buffer)
        try:
            plain = self._member.read(len(view))
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise InputError("the zip file is damaged") from None
        self._out += len(plain)
        if self._out > BOMB_START and self._out > BOMB_RATIO * self._size:
            raise InputError(
                f"the zip file unpacks to more than {BOMB_RATIO} times its size: unpack it yourself if you "
                "trust it"
            )
        view[: len(plain)] = plain
        return len(plain)
