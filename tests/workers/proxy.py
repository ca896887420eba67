"""A proxy before a server of objects, which lets some requests fail."""

from __future__ import annotations

import contextlib
import re
import socket
import threading

STATUS = {"error": b"500 Internal Server Error", "busy": b"503 Slow Down", "denied": b"403 Forbidden"}
#: What may be done with a request.
FAILURES = ("stall", "hold", "drip", "cut", "cut late", "close", *STATUS)


class Proxy:
    """Passes requests on to a server, and does something else with some of them.

    Parameters
    ----------
    target : (str, int)
        The server.
    first : int
        The number of the first request that isn't answered as it should be, from 1.
    how : str
        "stall": it isn't handed on, and nothing is answered; "hold": it is handed on, and nothing is answered; "drip":
        a byte a second; "cut": closed after 50 bytes; "cut late": after the half; "close": closed at once; "error":
        status 500; "busy": status 503; "denied": status 403.
    method : str
        The requests that are counted, such as "GET"; "" for all.
    once : bool
        Whether only that request fails, or all later ones, too.
    """

    def __init__(self, target: tuple[str, int], first: int, how: str, *, method: str = "", once: bool = False) -> None:
        self._target, self._first, self._how, self._asked = target, first, how, 0
        self._method, self._once = method.encode(), once
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def failed(self) -> bool:
        """Whether a request has failed so far."""
        return self._asked >= self._first

    def stop(self) -> None:
        self._stopped.set()
        self._server.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._pass, args=self._server.accept()[:1], daemon=True).start()

    def _fails(self, asked: bytes) -> bool:
        with self._lock:
            counts = bool(asked) and asked.startswith(self._method)
            self._asked += counts
            return counts and (self._asked == self._first if self._once else self._asked >= self._first)

    def _pass(self, client: socket.socket) -> None:
        """Serve one request a connection."""
        with contextlib.suppress(OSError), client:
            asked = self._whole(client)
            how = self._how if self._fails(asked) else ""
            if how == "stall":
                self._stopped.wait()
            elif how in STATUS:
                client.sendall(b"HTTP/1.1 %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % STATUS[how])
            elif asked and how != "close":
                self._answer(client, self._answered(asked), how)

    def _answered(self, asked: bytes) -> bytes:
        with socket.create_connection(self._target) as server:
            server.sendall(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            return b"".join(iter(lambda: server.recv(1 << 16), b""))

    def _answer(self, client: socket.socket, answer: bytes, how: str) -> None:
        if how == "hold":
            self._stopped.wait()
        elif how == "drip":
            for byte in answer:
                client.sendall(bytes([byte]))
                if self._stopped.wait(1):
                    return
        else:
            client.sendall(answer[: {"cut": 50, "cut late": len(answer) // 2}.get(how, len(answer))])

    @staticmethod
    def _whole(client: socket.socket) -> bytes:
        """Read a request with its body."""
        found = b""
        while b"\r\n\r\n" not in found:
            part = client.recv(1 << 16)
            if not part:
                return b""
            found += part
        head, _, body = found.partition(b"\r\n\r\n")
        said = re.search(rb"(?i)content-length: *(\d+)", head)
        while said and len(body) < int(said[1]):
            body += client.recv(1 << 16)
        return head + b"\r\n\r\n" + body
