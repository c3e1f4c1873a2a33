"""From text to tree (cel-go's parser/parser.go over the grammar of parser/gen/CEL.g4).

A syntax error ends the parse at its first place; its text is ANTLR's, since that is what the API server prints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from k8s_topo_mcp.cel import literals
from k8s_topo_mcp.cel.errors import Problem, Refused
from k8s_topo_mcp.cel.lexer import Token, tokens
from k8s_topo_mcp.cel.macros import Place, expand
from k8s_topo_mcp.cel.tree import (
    Call,
    Constant,
    Entry,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Node,
    Select,
)

RESERVED: Final = frozenset(
    "as break const continue else false for function if import in let loop package namespace null return true var void while".split()
)
DEPTH_LIMIT: Final = 250
SIZE_LIMIT: Final = 100_000

STARTS: Final = (
    "[", "{", "(", ".", "-", "!", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER",
)  # fmt: skip
MEMBER_STARTS: Final = tuple(kind for kind in STARTS if kind != "!")
FOLLOWS: Final = ("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", ".", "-", "?", "+", "*", "/", "%")
_ORDER: Final = (
    "==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%",
    "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER", "ESC_IDENTIFIER",
)  # fmt: skip

_LEVELS: Final[tuple[dict[str, str], ...]] = (
    {"==": "_==_", "!=": "_!=_", "<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "in": "@in"},
    {"+": "_+_", "-": "_-_"},
    {"*": "_*_", "/": "_/_", "%": "_%_"},
)
_WORD_VALUES: Final[dict[str, Constant]] = {"true": True, "false": False, "null": None}
_LITERALS: Final[dict[str, Callable[[str], Constant]]] = {
    "NUM_INT": literals.integer,
    "NUM_UINT": literals.unsigned,
    "NUM_FLOAT": literals.double,
    "STRING": literals.string,
    "BYTES": literals.byte_string,
}


def parse(text: str, escaped_names: bool = True, sort_by: bool = True) -> Node:
    """The tree of an expression. Whether fields may be written in backticks, and whether `sortBy` is a macro, depends on the release.

    Raises
    ------
    Refused
        With the problems found.
    """
    if len(text) > SIZE_LIMIT:
        raise Refused(Problem(f"expression code point size exceeds limit: size: {len(text)}, limit {SIZE_LIMIT}", None))
    found, problems = tokens(text)
    try:
        node = _Parser(text, found, escaped_names, sort_by).whole()
    except Refused as refused:
        raise Refused(*problems, *refused.problems) from None
    except RecursionError:
        raise Refused(*problems, Problem(f"expression recursion limit exceeded: {DEPTH_LIMIT}", None)) from None
    if problems:
        raise Refused(*problems)
    return node


def _expected(kinds: tuple[str, ...]) -> str:
    shown = [
        kind if kind.isupper() else f"'{kind}'" for kind in sorted(kinds, key=lambda kind: _ORDER.index(kind) if kind in _ORDER else -1)
    ]
    shown = ["<EOF>" if kind == "EOF" else kind for kind in shown]
    return shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"


def _shown(token: Token) -> str:
    return _quoted(token.text)


def _quoted(text: str) -> str:
    text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f"'{text}'"


class _Parser:
    """Recursive descent with one token of lookahead."""

    def __init__(self, text: str, found: list[Token], escaped_names: bool, sort_by: bool) -> None:
        self.text = text
        self.tokens = found
        self.escaped_names = escaped_names
        self.sort_by = sort_by
        self.index = 0
        self.depth = 0
        self.follow: list[frozenset[str]] = [frozenset(("EOF",))]
        """What may come after the expression that is being read, besides operators: innermost last."""

    # --- tokens ------------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.tokens[self.index]
        if token.kind != "EOF":
            self.index += 1
        return token

    def accept(self, kind: str) -> Token | None:
        return self.advance() if self.tokens[self.index].kind == kind else None

    def expect(self, kind: str, *also: str) -> Token:
        """The next token if it is of the kind; `also` are the others that could have stood here."""
        token = self.token
        if token.kind == kind:
            return self.advance()
        if self.peek().kind in (kind, *also) and token.kind != "EOF":
            raise self.syntax_error(f"extraneous input {_shown(token)} expecting {_expected((kind, *also))}")
        fits = token.kind in STARTS if kind == ":" else token.kind in FOLLOWS or token.kind in self.follow[-1]
        if fits and not also:
            raise self.syntax_error(f"missing {_expected((kind,))} at {_shown(token)}")
        raise self.syntax_error(f"mismatched input {_shown(token)} expecting {_expected((kind, *also))}")

    def inside(self, *follow: str) -> Node:
        """An expression in brackets of some kind, which the given tokens may follow."""
        self.follow.append(frozenset(follow))
        node = self.expression()
        self.follow.pop()
        return node

    def syntax_error(self, text: str) -> Refused:
        return Refused(Problem(f"Syntax error: {text}", self.token.offset))

    def cannot_start(self, kinds: tuple[str, ...]) -> Refused:
        token = self.token
        what = "extraneous" if token.kind != "EOF" and self.peek().kind in kinds else "mismatched"
        return self.syntax_error(f"{what} input {_shown(token)} expecting {_expected(kinds)}")

    def no_alternative(self, first: Token) -> Refused:
        """No rule goes from `first` to the token at hand: quoted with what is between, spaces and comments too."""
        return self.syntax_error(f"no viable alternative at input {_quoted(self.text[first.offset : self.token.end])}")

    def deeper(self, depth: int) -> None:
        if depth > DEPTH_LIMIT:
            raise Refused(Problem(f"expression recursion limit exceeded: {DEPTH_LIMIT}", None))

    # --- rules -------------------------------------------------------------------------------------------------------

    def whole(self) -> Node:
        node = self.expression()
        if self.token.kind != "EOF":
            if self.peek().kind == "EOF":
                raise self.syntax_error(f"extraneous input {_shown(self.token)} expecting <EOF>")
            raise self.syntax_error(f"mismatched input {_shown(self.token)} expecting <EOF>")
        return node

    def expression(self) -> Node:
        self.depth += 1
        self.deeper(self.depth)
        node = self.either()
        question = self.accept("?")
        if question:
            self.follow.append(frozenset((":",)))
            first = self.either()
            self.follow.pop()
            self.expect(":")
            second = self.expression()
            node = Call(question.offset, node.begin, second.end, "_?_:_", None, [node, first, second])
        self.depth -= 1
        return node

    def either(self) -> Node:
        first = self.both()
        if self.token.kind != "||":
            return first
        terms, places = [first], list[int]()
        while operator := self.accept("||"):
            places.append(operator.offset)
            terms.append(self.both())
        return _balanced("_||_", terms, places, 0, len(places) - 1)

    def both(self) -> Node:
        first = self.binary(0)
        if self.token.kind != "&&":
            return first
        terms, places = [first], list[int]()
        while operator := self.accept("&&"):
            places.append(operator.offset)
            terms.append(self.binary(0))
        return _balanced("_&&_", terms, places, 0, len(places) - 1)

    def binary(self, level: int) -> Node:
        """Relations, sums and products by precedence, all of them binding to the left."""
        node = self.unary()
        chain = 1
        while True:
            kind = self.token.kind
            for found in range(level, len(_LEVELS)):
                function = _LEVELS[found].get(kind)
                if function:
                    break
            else:
                return node
            chain += 1
            self.deeper(chain)
            operator = self.advance()
            right = self.unary() if found + 1 == len(_LEVELS) else self.binary(found + 1)
            node = Call(operator.offset, node.begin, right.end, function, None, [node, right])

    def unary(self) -> Node:
        token = self.token
        if token.kind == "!" or (token.kind == "-" and self.peek().kind not in ("NUM_INT", "NUM_FLOAT")):
            count = 0
            while self.token.kind == token.kind:
                self.advance()
                count += 1
            node = self.member(MEMBER_STARTS)
            if count % 2:
                node = Call(token.offset, token.offset, node.end, "!_" if token.kind == "!" else "-_", None, [node])
            return node
        return self.member(STARTS)

    def member(self, kinds: tuple[str, ...]) -> Node:
        node = self.primary(kinds)
        chain = 1
        while True:
            token = self.token
            if token.kind == ".":
                self.advance()
                node = self.selected(node, token)
            elif token.kind == "[":
                self.advance()
                optional = self.accept("?")
                if not optional and self.token.kind not in STARTS:
                    raise self.cannot_start((*STARTS, "?"))
                index = self.inside("]")
                end = self.expect("]").end
                node = Call(token.offset, node.begin, end, "_[?_]" if optional else "_[_]", None, [node, index])
            else:
                return node
            chain += 1
            self.deeper(chain)

    def selected(self, operand: Node, dot: Token) -> Node:
        optional = self.accept("?")
        name = self.token
        if name.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            if not optional and name.kind in ("true", "false", "null") and name.offset == dot.end:
                raise self.syntax_error(f"mismatched input '{name.text}' expecting IDENTIFIER")
            if optional:
                raise self.cannot_start(("IDENTIFIER", "ESC_IDENTIFIER"))
            raise self.no_alternative(dot)
        self.advance()
        text = name.text
        if name.kind == "ESC_IDENTIFIER":
            if not self.escaped_names:
                raise Refused(Problem("unsupported syntax: '`'", name.offset))
            text = text[1:-1]
        if optional:
            field = Literal(name.offset, name.offset, name.end, text)
            return Call(dot.offset, operand.begin, name.end, "_?._", None, [operand, field])
        opening = self.accept("(") if name.kind == "IDENTIFIER" else None
        if opening is None:
            return Select(dot.offset, operand.begin, name.end, operand, text)
        arguments, end = self.arguments()
        expanded = None
        if text != "sortBy" or self.sort_by:
            expanded = expand(Place(opening.offset, operand.begin, end), text, operand, arguments)
        return expanded or Call(opening.offset, operand.begin, end, text, operand, arguments)

    def arguments(self) -> tuple[list[Node], int]:
        closing = self.accept(")")
        if closing:
            return [], closing.end
        if self.token.kind not in STARTS:
            raise self.cannot_start((*STARTS, ")"))
        found = [self.inside(",", ")")]
        while self.accept(","):
            found.append(self.inside(",", ")"))
        return found, self.expect(")").end

    def primary(self, kinds: tuple[str, ...]) -> Node:
        token = self.token
        literal = _LITERALS.get(token.kind)
        if literal:
            self.advance()
            return self.literal(literal, token, token.text, token.offset)
        match token.kind:
            case "-":
                self.advance()
                number = self.token
                if number.kind not in ("NUM_INT", "NUM_FLOAT"):
                    raise self.no_alternative(token)
                self.advance()
                return self.literal(_LITERALS[number.kind], number, "-" + number.text, token.offset)
            case "true" | "false" | "null":
                self.advance()
                return Literal(token.offset, token.offset, token.end, _WORD_VALUES[token.kind])
            case "(":
                self.advance()
                node = self.inside(")")
                node.begin, node.end = token.offset, self.expect(")").end
                return node
            case "[":
                return self.list()
            case "{":
                return self.map()
            case "." | "IDENTIFIER":
                return self.named()
            case _:
                raise self.cannot_start(kinds)

    def literal(self, read: Callable[[str], Constant], token: Token, text: str, offset: int) -> Node:
        try:
            return Literal(offset, offset, token.end, read(text))
        except ValueError as error:
            raise Refused(Problem(str(error), offset)) from None

    def named(self) -> Node:
        dot = self.accept(".")
        name = self.token
        if name.kind != "IDENTIFIER":
            raise self.no_alternative(dot or name)
        start = dot.offset if dot else name.offset
        message = self.message_name()
        if message is not None:
            return self.message(start, ("." if dot else "") + message)
        self.advance()
        if name.text in RESERVED:
            raise Refused(Problem(f"reserved identifier: {name.text}", start))
        text = f".{name.text}" if dot else name.text
        opening = self.accept("(")
        if opening is None:
            return Identifier(name.offset, start, name.end, text)
        arguments, end = self.arguments()
        expanded = expand(Place(opening.offset, start, end), text, None, arguments)
        return expanded or Call(opening.offset, start, end, text, None, arguments)

    def message_name(self) -> str | None:
        """The dotted name, if a brace follows it."""
        ahead = 0
        while self.peek(ahead).kind == "IDENTIFIER" and self.peek(ahead + 1).kind == "." and self.peek(ahead + 2).kind == "IDENTIFIER":
            ahead += 2
        if self.peek(ahead + 1).kind != "{":
            return None
        return "".join(self.peek(index).text for index in range(ahead + 1))

    def message(self, start: int, name: str) -> Node:
        opening = self.advance()
        while opening.kind != "{":
            opening = self.advance()
        fields: list[tuple[str, Node]] = []
        while self.token.kind not in ("}", ","):
            self.accept("?")
            field = self.token
            if field.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
                raise self.cannot_start(("}", "?", ",", "IDENTIFIER", "ESC_IDENTIFIER"))
            self.advance()
            self.expect(":")
            fields.append((field.text, self.inside(",", "}")))
            if self.token.kind != "," or self.peek().kind == "}":
                break
            self.advance()
        self.accept(",")
        return MessageLiteral(opening.offset, start, self.expect("}", ",").end, name, fields)

    def list(self) -> Node:
        opening = self.advance()
        elements: list[Node] = []
        optional: set[int] = set()
        while self.token.kind not in ("]", ","):
            if self.accept("?"):
                optional.add(len(elements))
            elif self.token.kind not in STARTS:
                raise self.cannot_start((*STARTS, "]", ",", "?"))
            elements.append(self.inside(",", "]"))
            if self.token.kind != "," or self.peek().kind not in (*STARTS, "?"):
                break
            self.advance()
        end = self.expect("]").end if self.accept(",") else self.expect("]", ",").end
        return ListLiteral(opening.offset, opening.offset, end, elements, frozenset(optional))

    def map(self) -> Node:
        opening = self.advance()
        entries: list[Entry] = []
        while self.token.kind not in ("}", ","):
            optional = self.accept("?") is not None
            if not optional and self.token.kind not in STARTS:
                raise self.cannot_start((*STARTS, "}", ",", "?"))
            key = self.inside(":")
            colon = self.expect(":")
            entries.append(Entry(colon.offset, key, self.inside(",", "}"), optional))
            if self.token.kind != "," or self.peek().kind not in (*STARTS, "?"):
                break
            self.advance()
        end = self.expect("}").end if self.accept(",") else self.expect("}", ",").end
        return MapLiteral(opening.offset, opening.offset, end, entries)


def _balanced(function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
    """A balanced tree of terms, as cel-go's logicManager builds it."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], left.begin, right.end, function, None, [left, right])
