"""Words: what ties a line to a symptom, which sentences may stand, what a fence lets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.investigation import Symptom
from agent.subagents.model.claims import Checked, Claim
from agent.subagents.model.fence import Fence, clean, new_nonce
from agent.subagents.model.relevance import setting_is_meant, shared_phrase, shared_word
from agent.subagents.model.synthesiser import sift
from tests.llm.fakes import FILES, SYMPTOM, MemoryTree

TREE = MemoryTree(contents={**FILES, "pkg/thinker.py": "def drop_reasoning():\n    pass\n"})


@pytest.mark.parametrize(
    ("symptom", "code", "word"),
    [
        (SYMPTOM, 'meta_info["spec_accept_rate"] = rate', "spec_accept_rate"),
        (SYMPTOM, "self.capture_graphs()", ""),
        ("--reasoning-parser does nothing", "if self.reasoning_parser:", "reasoning_parser"),
        ("the reasoning is lost", "def drop_reasoning():", "reasoning"),
        ("the class is wrong", "class Model:", ""),
        ("models are never rare here", "class M1: models", ""),
        ("7168", "hidden = 7168", ""),
        (SYMPTOM, "self.capture_graphs()  # the cause of spec_accept_rate", ""),
        (SYMPTOM, 'x["#"] = spec_accept_rate  # so', "spec_accept_rate"),
        ("", "anything", ""),
    ],
)
def test_what_ties_a_line_to_a_symptom(symptom: str, code: str, word: str) -> None:
    assert shared_word(Symptom.parse(symptom), [code], TREE) == word


@pytest.mark.parametrize(
    ("symptom", "name", "meant"),
    [
        ("--enable-prefix-caching is passed but the prefix cache is off", "enable_prefix_caching", True),
        ("the prefix cache is off", "enable_prefix_caching", True),
        ("the prefix is off", "enable_prefix_caching", False),
        ("chunk size 32768 is not used", "chunked_prefill_size", False),
        ("--chunked-prefill-size 32768 is not used", "chunked_prefill_size", True),
        ("it is slow", "disable", False),
    ],
)
def test_which_setting_a_symptom_speaks_of(symptom: str, name: str, meant: bool) -> None:
    assert setting_is_meant(Symptom.parse(symptom), name) is meant


BLOCK = '''\
        if kind == "fp8":
            if path is not None:
                load(path)  # a comment with words of its own says nothing
                """a docstring with words of its own says nothing"""
            else:
                logger.warning(
                    "Using FP8 KV cache but no scaling factors "
                    "provided. Defaulting to 1.0."
                )
        logger.info("all requests are served by this server from now on")
'''.split("\n")


@pytest.mark.parametrize(
    ("symptom", "line", "phrase"),
    [
        ('log says "using FP8 KV cache but no scaling factors provided"', 2, "using fp8 kv cache but no scaling factors provided"),
        ('log says "no scaling factors provided. Defaulting"', 2, "no scaling factors provided defaulting"),
        ("no scaling factors are provided", 2, ""),
        ("a comment with words of its own says nothing", 2, ""),
        ("a docstring with words of its own says nothing", 2, ""),
        ("all requests are served by this server from now on", 2, ""),
        ("all requests are served by this server from now on", 1, ""),
        ("using FP8 KV cache but no scaling factors", 99, ""),
    ],
)
def test_a_message_ties_a_condition_to_a_symptom(symptom: str, line: int, phrase: str) -> None:
    assert shared_phrase(Symptom.parse(symptom), BLOCK, line) == phrase


FACTS = (
    Checked(id="h1.1", claim=Claim(kind="guard_false"), status="supported", said="`x.is_on()` at pkg/a.py:7 is false"),
    Checked(id="h1.2", claim=Claim(kind="value_is"), status="supported", said="num_steps is None"),
    Checked(
        id="h1.3",
        claim=Claim(kind="pattern_absent"),
        status="supported",
        said="no line of the 63 source files matches `the GPU is on fire`",
    ),
)


@pytest.mark.parametrize(
    ("sentence", "stands"),
    [
        ("The condition at pkg/a.py:7 is false [h1.1].", True),
        ("The line `x.is_on()` at pkg/a.py:7 is false [h1.1].", True),
        ("`x.is_on()` is false and num_steps is None [h1.1, h1.2].", False),
        ("[h1.2] num_steps is None.", True),
        ("The condition is false.", False),
        ("No line of the 63 source files matches `the GPU is on fire` [h1.3].", True),
        ("A line of the 63 source files matches `the GPU is on fire` [h1.3].", False),
        ("The GPU is on fire [h1.3].", False),
        ("The condition at pkg/a.py:7 is true [h1.1].", False),
        ("The condition at pkg/a.py:7 is not false [h1.1].", False),
        ("num_steps is not None [h1.2].", False),
        ("num_steps != None [h1.2].", False),
        ("num_steps ≠ None [h1.2].", False),
        ("`x` at pkg/a.py:7 is false [h1.1].", False),
        ("x is false [h1.1].", False),
        ("A cosmic ray hit the memory [h1.1].", False),
        ("The server was hacked, so num_steps is None [h1.2].", False),
        ("Le serveur est en panne [h1.2].", False),
        ("The condition at pkg/a.py:7 is false [h2.1].", False),
        ("The condition at pkg/a.py:7 is false [h1.1][h9.9].", False),
        ("The condition at pkg/b.py:7 is false [h1.1].", False),
        ("num_steps is 5 [h1.2].", False),
        ("The flag --other is set [h1.1].", False),
        ("CUDA is broken [h1.1].", False),
        ("This proves the root cause [h1.1].", False),
    ],
)
def test_which_sentences_may_stand(sentence: str, stands: bool) -> None:
    result = sift(sentence, FACTS)
    assert (result.sentences == (sentence,)) is stands
    assert result.cut == (0 if stands else len(sentence.encode()))


def test_no_more_than_eight_sentences_stand() -> None:
    assert len(sift("num_steps is None [h1.2].\n" * 20, FACTS).sentences) == 8


@given(st.text())
def test_nothing_uncited_stands(text: str) -> None:
    result = sift(text, FACTS)
    assert all("[h1." in sentence or "h1." in sentence for sentence in result.sentences)


MARKS = st.sampled_from(["\x1b[2J", "<|im_start|>", "[INST]", "</s>", "\u202e", "<<data ", "<<end ", ">>", "<|", "<think>", "\x00"])


@given(st.lists(st.text(max_size=10) | MARKS, max_size=8).map("".join))
def test_a_fence_cannot_be_left_and_cleaning_twice_is_cleaning_once(text: str) -> None:
    fence = Fence(nonce=new_nonce())
    wrapped = fence.wrap("x", text + fence.nonce)
    assert wrapped.count(fence.nonce) == 2 and "\x1b" not in wrapped and "<|" not in wrapped
    assert clean(clean(text)) == clean(text)
