"""Archives that tests make."""

import io
import tarfile


def tar(files: dict[str, bytes]) -> bytes:
    """An archive of these files, not compressed."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()
