"""What trackers answer when they refuse, as one line each that says what to do; and what was already sent by then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.domain.errors import TicketError
from agent.domain.visible import one_line

_MEANINGS = {
    400: ("did not understand the request", "is the ticket of the kind that takes comments?"),
    401: ("refused the token", "is it expired or mistyped?"),
    403: ("does not let this token do that", "it needs the right to comment and to attach files there"),
    404: ("has no such ticket, or hides it from this token", "check the reference and what the token may see"),
    409: ("says that the ticket changed meanwhile", "try again"),
    410: ("says that the ticket is gone", "is it deleted or moved?"),
    413: ("finds it too large", "ask for fewer attachments, or raise the server's limit"),
    422: ("refused the content", ""),
    429: ("is asked too often", "wait and try again"),
}
_AGAIN = "run it again: what arrived is found there and updated"


class Refused(Exception):
    """One tracker's client library failed: its HTTP status (0 without an answer), its own words, when to come back."""

    def __init__(self, status: int, said: str = "", retry_after: str = "") -> None:
        super().__init__(said)
        self.status = status
        self.said = said
        self.retry_after = retry_after


class Sent:
    """What a posting has sent so far; it stands in the error if a later step fails. ``under_way``: sent, and not answered for yet."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.under_way = ""

    @contextmanager
    def sending(self, step: str) -> Iterator[None]:
        """Around one write: where no answer comes, nobody knows whether it arrived."""
        self.under_way = step
        yield
        self.under_way = ""
        self.steps.append(step)


@contextmanager
def told(where: str) -> Iterator[Sent]:
    """Within it, refusals, network errors and answers of a wrong shape leave as TicketError, with what had been sent by then."""
    sent = Sent()
    try:
        yield sent
    except Refused as refused:
        what, hint = _refusal(where, refused)
        refused_whole = 400 <= refused.status < 500
        raise TicketError(what + _so_far(sent, known=refused_whole), status=refused.status, hint=hint) from None
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        # Client libraries trust the shape of what they get; a proxy's login page has another one.
        what = f"{where}: the answer is not what this tracker's API gives{_so_far(sent, known=False)}"
        raise TicketError(what, hint="is this the tracker's own address, without a login page in front?") from error
    except OSError as error:
        met = _network(error)
        if met is None:
            raise
        hint = _AGAIN if sent.under_way else "is the address right, and is the server reachable from here?"
        raise TicketError(f"{where}: {met}{_so_far(sent, known=False)}", hint=hint) from None


def _refusal(where: str, refused: Refused) -> tuple[str, str]:
    status = refused.status
    meaning, hint = _MEANINGS.get(status, ("failed" if status >= 500 else "answered something unexpected", f"later, {_AGAIN}"))
    said = f": {one_line(refused.said)[:300]}" if refused.said else ""
    if status == 429 and refused.retry_after:
        hint = f"try again in {one_line(refused.retry_after)} s"
    return f"{where}: the server {meaning} (HTTP {status}){said}", hint


def _network(error: OSError) -> str | None:
    """requests' errors are OSErrors; its module is loaded here only when a client library has already loaded it."""
    import requests

    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate is not trusted"
    if isinstance(error, requests.exceptions.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return "the server sends on to another address, where the token is not sent"
    if isinstance(error, requests.exceptions.RequestException):
        return "the server cannot be reached"
    return None


def _so_far(sent: Sent, *, known: bool) -> str:
    """``known``: the tracker said itself that it did not take the step under way."""
    before = f"; sent before that: {', '.join(sent.steps)}" if sent.steps else ""
    if sent.under_way and not known:
        return f"{before}; {sent.under_way} may have arrived all the same"
    return before or "; nothing was sent"
