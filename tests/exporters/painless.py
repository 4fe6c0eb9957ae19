"""An interpreter of the part of Painless that exports use, written from the language specification.

"Painless language specification": `def` variables, assignments, `if … else`, map literals `['a': x]`,
strings, `null`, `==` and `!=`, access by brackets and dots, and `Map.remove`, which returns what it removed.
"""

import re

_TOKEN = re.compile(r"\s*(?:('[^']*')|([A-Za-z_]\w*)|(==|!=|[\[\](){}:;,.=]))")


def run(source, ctx, params):
    """Run a script; `ctx` is changed as the engine's is."""
    tokens, at = [], 0
    while source[at:].strip():
        found = _TOKEN.match(source, at)
        assert found, f"not in this subset of Painless: {source[at:]!r}"
        tokens.append(found[0].strip())
        at = found.end()
    _Parser(tokens, {"ctx": ctx, "params": params}).statements(run=True)


class _Parser:
    def __init__(self, tokens, names):
        self.tokens, self.names = [*tokens, None], names

    def peek(self):
        return self.tokens[0]

    def take(self, expected=None):
        token = self.tokens.pop(0)
        assert expected in (None, token), f"expected {expected}, found {token}"
        return token

    def statements(self, run):
        while self.peek() not in (None, "}"):
            if self.peek() == ";":
                self.take()
                continue
            self.statement(run)

    def statement(self, run):
        if self.peek() == "if":
            self.take()
            self.take("(")
            chosen = self.comparison(run)
            self.take(")")
            self.block(run and chosen)
            if self.peek() == "else":
                self.take()
                self.block(run and not chosen)
            return
        if self.peek() == "def":
            self.take()
        holder, key, value = self.place(run)
        if self.peek() == "=":
            self.take()
            value = self.place(run)[2]
            if run:
                holder[key] = value
        assert self.peek() in (None, ";", "}"), f"a statement does not end before {self.peek()}"

    def block(self, run):
        self.take("{")
        self.statements(run)
        self.take("}")

    def comparison(self, run):
        left, operator, right = self.place(run)[2], self.take(), self.place(run)[2]
        assert operator in ("==", "!=")
        return (left == right) == (operator == "==")

    def place(self, run):
        """Return what holds a value, its key, and the value (None if there is none)."""
        token = self.take()
        if token == "null":
            return None, None, None
        if token[0] == "'":
            return None, None, token[1:-1]
        if token == "[":
            return None, None, self.map_literal(run)
        holder, key, value = self.names, token, self.names.get(token)
        while self.peek() in ("[", "."):
            if self.take() == ".":
                key_ = self.take()
                if self.peek() == "(":
                    assert key_ == "remove"
                    self.take()
                    argument = self.place(run)[2]
                    self.take(")")
                    value = value.pop(argument, None) if run else None
                    continue
            else:
                key_ = self.place(run)[2]
                self.take("]")
            holder, key = value, key_
            value = (value or {}).get(key_) if run else None
        return holder, key, value

    def map_literal(self, run):
        found = {}
        while self.peek() != "]":
            key = self.place(run)[2]
            self.take(":")
            found[key] = self.place(run)[2]
            if self.peek() == ",":
                self.take()
        self.take("]")
        return found
