"""What is said to a fresh remote shell before any read: limits that make writing impossible, and the reply functions.

Layer two of read-only (layer one is the allow-list of ``shell.py``): with ``ulimit -f 0`` the kernel refuses file data
from this shell and all its children, while pipes are untouched. Measured in dash, bash and busybox.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from agent.domain.command import Command
from agent.hosts.interface import Features
from agent.hosts.shell import quote, render

CPU_SECONDS = 600
PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin:/run/current-system/sw/bin"
_UNSET = (
    "ENV BASH_ENV CDPATH GREP_OPTIONS GREP_COLOR GREP_COLORS TAR_OPTIONS TAPE ZSTD_CLEVEL ZSTD_NBTHREADS GZIP LANGUAGE"
    " LC_MESSAGES TIME_STYLE BLOCK_SIZE BLOCKSIZE POSIXLY_CORRECT PS_FORMAT PS_PERSONALITY COLUMNS SYSTEMD_PAGER PAGER LD_PRELOAD"
)
# Programs that end by themselves and whose output cannot outgrow their arguments. Every other one runs under `timeout` and is cut by
# `head -c` on the host; of these the reader keeps the limits, and ends the shell that breaks them.
_QUICK = frozenset("stat readlink uname id date".split())

# Programs that read the one file named last: it is looked at first, since a FIFO or a device could hold them for ever.
_READERS = frozenset("cat sed head tail".split())

# k: 2 GNU timeout, 1 a timeout with -k, 0 none. x: run under it. q: a quick one, without. g: a quick one after a look at its file.
# c: cut at $l bytes, exit status kept. z: compressed. The status travels on descriptor 3 around the pipe, which POSIX sh cannot
# look into. b: whether a program is an applet of busybox or toybox. w: gives way to the host's own work, before the first search.
# Nothing is started here on a usual host: each program costs milliseconds before the first answer.
_PRELUDE = """\
set +vx
n={nonce}
IFS=' \t'
IFS="$IFS
"
unset {unset}
LC_ALL=C PATH={path}
export LC_ALL PATH
command trap '' XFSZ 2>/dev/null
ulimit -f 0;ulimit -c 0;ulimit -t {cpu}
set -Cf;umask 077
p(){{ command -v "$1" >/dev/null 2>&1;}}
b(){{ for d in /usr/bin /bin /usr/sbin /sbin;do if [ -x $d/$1 ];then
[ $d/$1 -ef /bin/busybox ]||[ $d/$1 -ef /bin/toybox ];return;fi;done;return 1;}}
gI= gZ= ga= pe= gf=0 k=0 zs=0 gz=0 ni=
b grep||gI=-I gZ=-Z ga=-a
p find&&! b find&&gf=1
p ps&&! b ps&&pe=-e
if p timeout;then k=2;if b timeout;then case $(timeout --help 2>&1 </dev/null) in *' -t '*) k=0;;*-k*) k=1;;*) k=0;;esac;fi;fi
p zstd&&zs=1;p gzip&&gz=1
w(){{ ni=1;{{ renice -n 5 -p $$;ionice -c 2 -n 7 -p $$;}} >/dev/null 2>&1 </dev/null & }}
x(){{ case $k in 2) timeout --foreground -k 1 "$t" "$@";;1) timeout -k 1 "$t" "$@";;*) "$@";;esac </dev/null;}}
e(){{ echo "$n $i $r";echo "$n $i $r" >&2;}}
q(){{ i=$1;shift;"$@" </dev/null;r=$?;e;}}
g(){{ i=$1 o=$2;shift 2;if [ -p "$o" ]||[ -c "$o" ]||[ -b "$o" ];then echo "$o: not a regular file" >&2;r=1
else "$@" </dev/null;r=$?;fi;e;}}
c(){{ [ $ni ]||w;i=$1 t=$2 l=$3;shift 3;{{ r=$({{ {{ x "$@" 3>&- 4>&-;echo $? >&3;}}|head -c "$l" >&4 3>&-;}} 3>&1);}} 4>&1;e;}}
z(){{ [ $ni ]||w;i=$1 t=$2 f=$3;shift 3;{{ r=$({{ {{ x "$@" 3>&- 4>&-;echo $? >&3;}}|y >&4 3>&-;}} 3>&1);}} 4>&1;e;}}
y(){{ case $f$zs in *z*1) zstd -1 -q -c;return;;esac;case $gz in 1) gzip -1 -c;;*) cat;;esac;}}
kr=;read kr </proc/sys/kernel/osrelease;pg=;read a b s d pg rest </proc/$$/stat
u=;while read a b rest;do case $a in Uid:) u=$b;break;;esac;done </proc/$$/status
r="pid=$$ pg=$pg uid=$u grep=${{gI:+1}} find=$gf tar=$gf zstd=$zs gzip=$gz timeout=$k kernel=$kr"
echo "$n ready $r";echo "$n ready $r" >&2
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What the ready frame told: the shell's process and process group (0 is unknown), and the host's features."""

    pid: int
    group: int
    features: Features


def prelude(nonce: bytes) -> bytes:
    """The first bytes for a new shell; it answers with the ready frame on both streams."""
    return _PRELUDE.format(nonce=nonce.decode("ascii"), unset=_UNSET, path=quote(PATH), cpu=CPU_SECONDS).encode("ascii")


def request(command: Command, number: int, *, compress: str = "") -> bytes:
    """One statement: the command with its limits, its stdin closed, ended by its frame. ``compress``: "z" may use zstd, "g" gzip."""
    text = render(command)
    argv = command.argv
    seconds = math.ceil(command.timeout)  # a busybox timeout takes whole seconds
    if compress:  # the limit is the reader's to keep
        head = f"z {number} {seconds} {compress}"
    elif argv[0] in _READERS and not argv[2].startswith("+"):
        head = f"g {number} {quote(argv[-1])}"
    elif argv[0] in _QUICK:
        head = f"q {number}"
    else:
        head = f"c {number} {seconds} {command.limit + 1}"
    return f"{head} {text}\n".encode("utf-8", "surrogateescape")


def parse_ready(tail: str) -> Ready:
    """The ready frame's ``name=value`` words; the kernel release is the last, and may hold anything."""
    words, _, kernel = tail.partition(" kernel=")
    facts = dict(word.split("=", 1) for word in words.split(" ") if "=" in word)
    features = Features(
        gnu_grep=facts.get("grep") == "1",
        gnu_find=facts.get("find") == "1",
        tar_null=facts.get("tar") == "1",
        zstd=facts.get("zstd") == "1",
        gzip=facts.get("gzip") == "1",
        timeout=facts.get("timeout", "0") != "0",
        uid=_integer(facts.get("uid", ""), -1),
        kernel=kernel,
    )
    return Ready(pid=_integer(facts.get("pid", ""), 0), group=_integer(facts.get("pg", ""), 0), features=features)


def _integer(text: str, otherwise: int) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,10}", text) else otherwise
