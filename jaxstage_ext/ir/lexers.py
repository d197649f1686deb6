"""Pygments lexers for the three texts that JAX makes of a function."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

_groups: Any = bygroups
_STRING = (r'"(?:\\.|[^"\\\n])*"', String)
_NUMBER = (r"-?(?:0x[0-9A-Fa-f]+|\d+\.?\d*(?:[eE][+-]?\d+)?)(?![\w.])", Number)
_LINE_END = (r"[ \t]*\n", Whitespace)  # before what begins a line
_REST = [
    (r"\s+", Whitespace),
    (r"->|=", Operator),
    (r"[\w$.]+", Name),
    (r"[^\w\s]", Punctuation),
    (r".", Text),
]


class JaxprLexer(RegexLexer):
    """`print(jax.make_jaxpr(f)(x))`."""

    name = "jaxpr"
    aliases: ClassVar[list[str]] = ["jaxpr"]
    filenames: ClassVar[list[str]] = ["*.jaxpr"]
    mimetypes: ClassVar[list[str]] = ["text/x-jaxpr"]
    url = "https://docs.jax.dev/en/latest/jaxpr.html"
    version_added = ""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\b(?:lambda|let|in)\b", Keyword),
            (r"\b(?:True|False|None)\b", Keyword.Constant),
            _STRING,
            (r"'(?:\\.|[^'\\\n])*'", String),
            (r"\b[a-z]\w*(?:<[\w.]+>)?\[[^\]\n]*\](?:\{[^}\n]*\})?(?![\w=])", Keyword.Type),
            (r"\b([A-Za-z_]\w*)(:)(?=\S)", _groups(Name.Variable, Punctuation)),
            (r"(=)(\s+)([a-z][\w-]*)(?=[\[\s])", _groups(Operator, Whitespace, Name.Function)),
            (r"\b([A-Za-z_]\w*)(=)", _groups(Name.Attribute, Operator)),
            _NUMBER,
            *_REST,
        ]
    }


class StableHloLexer(RegexLexer):
    """`jax.jit(f).lower(x).as_text()`, and MLIR in general."""

    name = "StableHLO"
    aliases: ClassVar[list[str]] = ["stablehlo", "mlir"]
    filenames: ClassVar[list[str]] = ["*.mlir"]
    mimetypes: ClassVar[list[str]] = ["text/x-mlir"]
    url = "https://openxla.org/stablehlo"
    version_added = ""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r"%[\w$.-]+(?:[#:]\d+)?", Name.Variable),
            (r'@(?:"(?:\\.|[^"\\\n])*"|[\w$.-]+)', Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"[#!][A-Za-z_][\w$.]*", Name.Decorator),
            (r"\b(?:tensor|vector|memref|tuple|complex)<(?:[^<>\n]|<(?:[^<>\n]|<[^<>\n]*>)*>)*>", Keyword.Type),
            (r"\b(?:[su]?i\d+|bf16|f\d+(?:E\w+)?|index|none)\b", Keyword.Type),
            (r'"[a-z_]\w*(?:\.\w+)+"(?=\()', Name.Function),
            _STRING,
            (words(("module", "func.func", "return", "func.return", "call", "func.call"), r"\b", r"\b"), Keyword),
            (words(("private", "public", "attributes", "loc", "cond", "do"), r"\b", r"\b"), Keyword),
            (r"\b(?:true|false|unit|dense|dense_resource|array)\b", Keyword.Constant),
            (r"\b[a-z_]\w*(?:\.[a-z_]\w*)+", Name.Function),
            (r"\b([A-Za-z_][\w.]*)(\s*)(=)", _groups(Name.Attribute, Whitespace, Operator)),
            _NUMBER,
            *_REST,
        ]
    }


class HloLexer(RegexLexer):
    """`jax.jit(f).lower(x).compile().as_text()`."""

    name = "HLO"
    aliases: ClassVar[list[str]] = ["hlo"]
    filenames: ClassVar[list[str]] = ["*.hlo"]
    mimetypes: ClassVar[list[str]] = ["text/x-hlo"]
    url = "https://openxla.org/xla"
    version_added = ""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"/\*.*?\*/|//[^\n]*", Comment),
            (r"^(?:HloModule|ENTRY)\b|\bROOT\b", Keyword),
            (r"%[\w.$-]+", Name.Variable),
            (r"\b(?:pred|token|opaque|[a-z]+\d\w*)\[[^\]\n]*\](?:\{[^{}\n]*\})?", Keyword.Type),
            _STRING,
            (r"\b([A-Za-z_][\w.-]*)(=)", _groups(Name.Attribute, Operator)),
            (r"\b[a-z][a-z0-9-]*(?=\()", Name.Function),
            (r"\b(?:true|false)\b", Keyword.Constant),
            _NUMBER,
            *_REST,
        ]
    }


class PtxLexer(RegexLexer):
    """NVIDIA's PTX, as XLA and nvcc write it."""

    name = "PTX"
    aliases: ClassVar[list[str]] = ["ptx"]
    filenames: ClassVar[list[str]] = ["*.ptx"]
    mimetypes: ClassVar[list[str]] = ["text/x-ptx"]
    url = "https://docs.nvidia.com/cuda/parallel-thread-execution/"
    version_added = ""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            _LINE_END,
            (r"//[^\n]*|/\*.*?\*/", Comment),
            _STRING,
            (r"^(\$?[\w$]+)(:)", _groups(Name.Label, Punctuation)),
            (r"\$L_\w+", Name.Label),
            (r"%[\w.]+", Name.Variable),
            (
                r"^(\s+)(?:(@!?%\w+)(\s+))?([a-z][\w.:]*)",
                _groups(Whitespace, Name.Variable, Whitespace, Name.Function),
            ),
            (r"\.(?:[usbf]\d+\w*|pred|ptr|v[248])\b", Keyword.Type),
            (r"\.[a-z_]\w*", Keyword),
            _NUMBER,
            *_REST,
        ]
    }


class SassLexer(RegexLexer):
    """What nvdisasm and cuobjdump print."""

    name = "SASS"
    aliases: ClassVar[list[str]] = ["sass"]
    filenames: ClassVar[list[str]] = ["*.sass"]
    mimetypes: ClassVar[list[str]] = ["text/x-sass"]
    url = "https://docs.nvidia.com/cuda/cuda-binary-utilities/"
    version_added = ""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            _LINE_END,
            (
                r"^(\s*/\*[0-9a-f]+\*/)(\s+)(?:(@!?U?P[\dT]+)(\s+))?([A-Z][\w.]*)",
                _groups(Comment, Whitespace, Name.Variable, Whitespace, Name.Function),
            ),
            (r"//[^\n]*|/\*.*?\*/", Comment),
            _STRING,
            (r"^(\.?[\w.$]+)(:)", _groups(Name.Label, Punctuation)),
            (r"\.L_\w+", Name.Label),
            (r"\b(?:U?R\d+|U?RZ|U?P[\dT]|B\d+|SR_[\w.]+)\b", Name.Variable),
            (r"\.[a-z_]\w*", Keyword),
            _NUMBER,
            *_REST,
        ]
    }


LEXERS = {"jaxpr": JaxprLexer, "stablehlo": StableHloLexer, "hlo": HloLexer}
