"""Laws of redaction: it is idempotent, keeps line numbers, leaves numbers and words alone, and lets no planted secret through."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.redaction import is_redacted, placeholder, redact_argv, redact_environment, redact_json, redact_text
from agent.domain.secret_blocks import open_block

HARMLESS = [
    "[2026-05-01 15:16:08] ServerArgs(tokenizer_path='lmsys/vicuna-7b-v1.5', tokenizer_mode='auto', max_total_tokens=None)",
    "Decode batch, #running-req: 1, #token: 1234, token usage: 0.01, accept len: 1.00, cuda graph: False, gen throughput (token/s): 45.1",
    "Prefill batch. #new-seq: 1, #new-token: 6, #cached-token: 0",
    '{"eos_token": "</s>", "bos_token": "<s>", "pad_token_id": 0, "num_key_value_heads": 8, "image_token": "<|image|>"}',
    "python3 -m server --speculative-num-draft-tokens 16 --tokenizer-path a/b --ssl-keyfile /etc/key.pem --max-total-tokens 4096",
    "pass_config=PassConfig(fuse=True), compilation_config={'key': 1}, sort_keys=True",
    "author = 'Somebody', keyword=12, bypass = yes, monkey: banana",
    "https://example.com/path?page=2#token-section",
    "tcp://10.0.0.1:5000, [::1]:8000, file:///a/b",
    "key: value",
    "custom_param_sd, names = hf_to_custom_state_dict(model)",
    "NO_TOKEN, api_key=None, model='KimiK25ForConditionalGeneration'",
    "auth: none, host=gpu01.example.com, model=KimiK25ForConditionalGeneration",
    "while True: pass  # timeout=0.0001a",
    "sk-learn-something-with-a-long-name, docker run -u 1000:1000 image",
    "password_min_length: 1024, secret_size = 4096, max_total_tokens=40960, api_key=None",
    "prefill_delayer_single_pass: Optional[PrefillDelayerSinglePassExecutor] = None,",
    "nvcr.io/nvidia/pytorch:24.05-py3@sha256:0a1b2c, mailto:Somebody2@example.com, git@github.com:a/b.git",
    "['--api-key', '--port', '1']",
    "http://[::1]:8000/x and http://10.0.0.1:30000/v1 by a@b.example",
]
SECRET = "q7Zx9-Kp2_LmW4vB"
PLACES = [
    "--api-key {s}", "--api-key={s}", "--admin-api-key '{s}'", "API_KEY={s}", "export HF_TOKEN={s}", "password: {s}", "password = \"{s}\"",
    "'api_key': '{s}'", '"secret_access_key": "{s}"', '{{\\"api_key\\": \\"{s}\\"}}', "ServerArgs(api_key='{s}', port=1)",
    "api_keys=['{s}', 'b']",
    "Authorization: Bearer {s}", "authorization: Basic {s}", "X-Api-Key: {s}", "Cookie: session={s}; theme=dark", "Set-Cookie: id={s}",
    "https://user:{s}@example.com/x", "redis://:{s}@cache:6379/0", "postgresql://u:{s}@db/x", "https://example.com/x?token={s}&a=1",
    "https://example.com/x?a=1&api_key={s}", "db_password={s} user=x", "WANDB_API_KEY: {s}", "AWS_SECRET_ACCESS_KEY={s}", "OPENAI_KEY={s}",
    "passwd={s}", "client_secret:{s}", "auth_token => {s}", "session_key={s}", "smtp_pass={s}", "headers={{'Authorization': 'Token {s}'}}",
    "curl -H 'X-Auth-Token: {s}' http://h",
    "curl -u user:{s} http://h", "curl --user user:{s} http://h", "sshpass -p {s} ssh h", "sshpass -p{s} ssh h", "redis-cli -a {s} ping",
    "openssl rsa -passin pass:{s}", "requirepass {s}", "wandb login {s}", "postgres://u:ab/{s}@h/db", "postgres://u:ab@{s}@h/db",
    "jdbc:oracle:thin:u/{s}@h", "machine h login u password {s}", "the password is {s}", "using API key {s}", "api key '{s}'",
    "| api_key | {s} |", "hf_token\t{s}", "token -> {s}", "setenv API_KEY {s}", "<password>{s}</password>",
    '<property name="apiKey" value="{s}"/>', '[{{"name": "DB_PASSWORD", "value": "{s}"}}]', "- name: DB_PASSWORD\n  value: {s}",
    "[(b'host', b'x'), (b'x-api-key', b'{s}')]", "password: Optional[str] = '{s}'", "API_KEY: Final = \"{s}\"",
    "Client(api_key=SecretStr('{s}'))", "Namespace(api_key={{'a': '{s}'}}, x=1)", "{{'auth': {{'x': '{s}'}}}}", "pw='{s}'", "token=f'{s}'",
    "api_keys: a1, {s}, b2", "API_KEYS=a1,{s};b2", "password = one {s} two", 'password: "correct horse {s}"', "password=${s}",
    "password=<{s}>",
    "password: &p {s}", "password%3D{s}", "root:{s}@10.0.0.1:22", 'execve("/x", ["s", "--api-key", "{s}"])',
    "['--api-key', 'x', '--token', '{s}']",
    "\x1b[31mpassword\x1b[0m=\x1b[32m{s}\x1b[0m", 'Authorization: Digest username="u", response="{s}"',
    '{{"config": "{{\\"api_key\\": \\"{s}\\"}}"}}',
]  # fmt: skip
SHAPES = [
    "sk-" + "a1" * 12, "hf_" + "Ab" * 15, "ghp_" + "x9" * 15, "github_pat_" + "a_1" * 10, "glpat-" + "z" * 20, "xoxb-" + "1234567890-abc",
    "AKIA" + "ABCDEFGH12345678", "AIza" + "b" * 35, "eyJhbGciOiJI.eyJzdWIiOiIx.abc_def-1", "nvapi-" + "q" * 30,
    "gsk_" + "Ab1" * 16, "sk_live_" + "Ab1" * 8, "whsec_" + "Ab1" * 8, "r8_" + "Ab1" * 12, "hvs." + "Ab1" * 12,
    "dapi" + "0123456789abcdef" * 2,
    "dckr_pat_" + "Ab1_-" * 6, "ATATT3" + "Ab1_-" * 12, "doo_v1_" + "0123456789abcdef" * 4, "shpat_" + "0123456789abcdef" * 2,
    "lin_api_" + "Ab1" * 13, "glrt-" + "Ab1_-" * 5, "GOCSPX-" + "Ab1_-" * 6, "AGE-SECRET-KEY-1" + "QPZRY9X8" * 7,
    "sk-ant-api03-" + "Ab1_-" * 9,
    "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "abc8Q~" + "Ab1_-." * 6, "$6$salt$" + "Ab1./" * 10,
    "https://hooks.slack.com/services/T00000000/B00000000/" + "Ab1" * 8, "https://api.telegram.org/bot123456789:AA" + "Ab1" * 11,
]  # fmt: skip
PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\nAAAABG5vbmU\n-----END OPENSSH PRIVATE KEY-----"


@pytest.mark.parametrize("text", HARMLESS)
def test_words_of_the_trade_are_no_secrets(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_in_its_place(place: str) -> None:
    text = place.format(s=SECRET)
    assert SECRET not in redact_text(text)
    assert is_redacted(redact_text(text))


@pytest.mark.parametrize("secret", SHAPES)
def test_a_secret_by_its_shape(secret: str) -> None:
    for text in (secret, f"got {secret}, bye", f"x={secret}", f"('{secret}',)"):
        assert secret not in redact_text(text)
        assert secret not in redact_text(text, literals_only=True)


BLOCKS = {
    "a list": 'x = 1\n  "api_keys": [\n    "{s}",\n    "{s}"\n  ],\n  "architectures": ["KimiK25ForConditionalGeneration"]',
    "an object": '"auth": {\n  "user": "{s}",\n  "deep": {"a": "{s}"}\n},\n"hidden_size": 7168',
    "a YAML list": "api_keys:\n  - {s}\n  - '{s}'\nport: 8000",
    "a YAML list that is not indented": "api_keys:\n- {s}\n- {s}\nport: 8000",
    "a folded scalar": "password: >-\n  {s}\n  more {s}\nport: 8000",
    "a tagged scalar": "password: !vault |\n  $ANSIBLE_VAULT;1.1\n  {s}\nport: 8000",
    "a value in the next row": "password:\n  {s}\nport: 8000",
    "a shell document": "secret_key = <<EOF\n{s}\nEOF\nport: 8000",
    "a string of many rows": 'password = """\n{s}\n"""\nport = 8000',
    "a secret of Kubernetes": "kind: Secret\ndata:\n  foo: {s}\n  bar: {s}\nport: 8000",
    "pairs of name and value": '[\n  {"name": "DB_PASSWORD",\n    "value": "{s}"},\n  {"name": "X",\n    "value": "y"}\n]',
    "a YAML mapping": "  auth:\n    value: {s}\n    other: {s}\n  model: KimiK25ForConditionalGeneration",
}


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r\r\n"], ids=["lf", "crlf", "crcrlf"])
@pytest.mark.parametrize("block", BLOCKS.values(), ids=list(BLOCKS))
def test_a_block_below_a_secrets_name(block: str, ends: str) -> None:
    text = block.replace("{s}", SECRET).replace("\n", ends)
    found = redact_text(text)
    assert SECRET not in found
    assert found.splitlines()[-1] == text.splitlines()[-1], "what follows the block stays"
    assert redact_text(found) == found
    assert found.count(ends) == text.count(ends)


NUMBERS = ["password=12345678", "api_key: 1234567890123456", "--secret 123456", '{"password": 123456}']


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_a_secret_where_the_name_leaves_no_doubt(text: str) -> None:
    assert "123456" not in redact_text(text)
    if text.startswith("{"):
        assert is_redacted(json.loads(redact_json(text))["password"])


def test_a_private_key_leaves_its_lines() -> None:
    assert redact_text(f"a\n{PEM}\nb") == "a\n<redacted:private-key>\n\n\n\nb"
    assert redact_text("a\n-----BEGIN RSA PRIVATE KEY-----\ncut off") == "a\n<redacted:private-key>\n"
    assert "AAAABG5vbmU" not in redact_text(json.dumps({"key": PEM}))


def test_a_private_key_broken_over_the_rows_of_a_log() -> None:
    body = "MIIEpAIBAAKCAQEA7bq3xyzABCdef123456789012345678901234567890abcd"
    prefixed = "\n".join(
        f"2026-01-01 00:00:01 INFO {row}" for row in ("-----BEGIN RSA PRIVATE KEY-----", body, "-----END RSA PRIVATE KEY-----")
    )
    end_alone = f"{body}\n{body}==\n-----END PRIVATE KEY-----"
    putty = f"Encryption: none\nPrivate-Lines: 1\n{body}\nPrivate-MAC: 01"
    for text in (prefixed, end_alone, putty):
        assert body not in redact_text(text)
        assert redact_text(text).count("\n") == text.count("\n")


def test_uuids_after_names_that_sound_secret() -> None:
    uuid = "123e4567-e89b-12d3-a456-426614174000"
    assert uuid not in redact_text(f"session: {uuid}")
    assert uuid not in redact_text(f'"license_key_id": "{uuid}"')
    assert redact_text(f"request {uuid} done; GPU-{uuid}") == f"request {uuid} done; GPU-{uuid}"


def test_source_code_keeps_its_words_and_loses_its_secrets() -> None:
    code = (
        "TOKEN_HEADER = 'Authorization'\napi_key: str = 'EMPTY'\npassword = get(password)\ntoken = self.tokens[0]\nkey = 'hidden_size2'\n"
    )
    assert redact_text(code, literals_only=True) == code
    assert SECRET not in redact_text(f"api_key = '{SECRET}'\n", literals_only=True)
    assert redact_text(f"call(token={SECRET})", literals_only=True) == f"call(token={SECRET})", "a name, not a literal"


def test_an_argument_vector() -> None:
    argv = [
        "server",
        "--api-key",
        SECRET,
        "--port",
        "1",
        "--num-draft-tokens",
        "16",
        f"--hf-token={SECRET}",
        "-H",
        f"Authorization: Bearer {SECRET}",
    ]
    assert redact_argv(argv) == (
        "server", "--api-key", "<redacted:api-key>", "--port", "1", "--num-draft-tokens", "16", "--hf-token=<redacted:hf-token>", "-H",
        "Authorization: Bearer <redacted:authorization>",
    )  # fmt: skip


def test_an_environment_shows_allowed_names_only() -> None:
    shown = redact_environment(["NCCL_DEBUG=INFO", "FOO=bar", "SGL_API_KEY=x1", "EMPTY=", "NCCL_X=http://u:p@h"], ["NCCL_*", "SGL_*"])
    assert shown == [
        "NCCL_DEBUG=INFO", "FOO=<redacted:foo>", "SGL_API_KEY=<redacted:sgl-api-key>", "EMPTY=<redacted:empty>", "NCCL_X=http://<redacted:url-login>@h",
    ]  # fmt: skip


def test_json_by_structure() -> None:
    text = json.dumps(
        {"api_keys": ["a1", "b2"], "auth": {"user": "u", "pw": "zz"}, "deep": [{"token": SECRET}], "hidden_size": 7168}, indent=2
    )
    found = json.loads(redact_json(text))
    assert found["hidden_size"] == 7168
    assert all(is_redacted(value) for value in (*found["api_keys"], *found["auth"].values(), found["deep"][0]["token"]))
    assert redact_json(text).count("\n") == text.count("\n")
    marked = "\ufeff" + text.replace("\n", "\r\n")
    assert json.loads(redact_json(marked).removeprefix("\ufeff")) == found, "a byte order mark, and line ends of Windows"


def test_json_of_environments_and_of_kubernetes() -> None:
    env = json.loads(redact_json(json.dumps({"env": [{"name": "DB_PASSWORD", "value": "ab"}, {"name": "X", "value": "ab1"}]})))["env"]
    assert [is_redacted(item["value"]) for item in env] == [True, False]
    assert is_redacted(json.loads(redact_json(json.dumps({"kind": "Secret", "data": {"foo": "Zm9v"}})))["data"]["foo"])


ARGUMENTS = [
    ["curl", "-u", f"user:{SECRET}"], ["sshpass", "-p", SECRET, "ssh"], ["redis-cli", "-a", SECRET], ["s", "--api-keys", "a", SECRET],
    ["s", "--config", json.dumps({"api_key": SECRET})], ["bash", "-c", f"export API_KEY={SECRET}; exec s --api-key {SECRET}"],
    ["s", f"+auth.token={SECRET}"], ["s", f"model.api_key={SECRET}"], ["env", f"API_KEY={SECRET}", "s"], ["s", "--api-key", f"-{SECRET}"],
]  # fmt: skip


@pytest.mark.parametrize("argv", ARGUMENTS, ids=[" ".join(argv)[:20] for argv in ARGUMENTS])
def test_secrets_among_arguments(argv: list[str]) -> None:
    found = redact_argv(argv)
    assert len(found) == len(argv) and SECRET not in "".join(found)
    assert found[0] == argv[0]


@given(st.lists(st.sampled_from([*PLACES, *HARMLESS, PEM.replace("{", ""), "{s}", "", "é İ", "\x00"]), max_size=6))
def test_redacting_twice_changes_nothing_and_keeps_lines(rows: list[str]) -> None:
    text = "\n".join(row.replace("{s}", SECRET).replace("{{", "{").replace("}}", "}") for row in rows)
    for literals_only in (False, True):
        once = redact_text(text, literals_only=literals_only)
        assert redact_text(once, literals_only=literals_only) == once
        assert once.count("\n") == text.count("\n")


@given(st.text(max_size=200))
def test_any_text_survives(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once
    assert once.count("\n") == text.count("\n")


@given(st.text(max_size=20))
def test_a_placeholder_is_plain(name: str) -> None:
    assert re.fullmatch(r"<redacted:[a-z0-9-]+>", placeholder(name))


REPEATED = [
    "token", "token=", "token=[", "token=(", "token={", "token='", 'token="', "token=\\", "token=a(", "://a:b", "eyJ-", "sk-", "password ",
    "token: [\n", "token:\n", "api_key ", "-----BEGIN PRIVATE KEY-----", "Basic a", " -u a", "key=a", "session=", "cookie: ", '{"token":',
    'token="""\n', "token=<<EOF\n", "kind: Secret\ndata:\n a\n", "password is ", ":thin:a/", "SG.a", "\x1b[", "\\",
]  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED)
def test_no_text_takes_much_longer_than_its_length(piece: str) -> None:
    """A host could send it to stop whoever looks at it."""
    text = (piece * 100_000)[:100_000]
    began = time.process_time()
    redact_text(text)
    redact_text(text, literals_only=True)
    open_block(text)
    assert time.process_time() - began < 10, "with time that grows as the square it would be minutes"


def test_a_long_secret_is_masked_to_its_end() -> None:
    assert "tail" not in redact_text(f"api_key={'a1' * 5000}tail, port=1")
    assert redact_text(f"api_key={'a1' * 5000}tail, port=1").endswith(", port=1")
