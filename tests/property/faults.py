"""Crashes and interleavings at exact places: a gate that every call to registry and store passes."""


class Crash(BaseException):
    """The process is gone: nothing catches this but the test that wanted it."""


def crash():
    raise Crash


class Gate:
    """Counts passages; at a planned passage it runs what was planned there (a crash, a rival, a search)."""

    def __init__(self):
        self.passed = 0
        self._plans = {}

    def plan(self, ahead, action):
        """Run `action` at the passage `ahead` from now (1 is the next)."""
        self._plans[self.passed + ahead] = action

    def plan_once(self, condition, action):
        """Run `action` at the first passage at which `condition` holds."""
        self.plan(1, lambda: action() if condition() else self.plan_once(condition, action))

    def clear(self):
        self._plans.clear()

    def passage(self):
        self.passed += 1
        action = self._plans.pop(self.passed, None)
        if action is not None:
            action()


class Gated:
    """A registry or a store behind a gate, passed before each call: what comes after one call is before the next."""

    def __init__(self, inner, gate):
        self._inner = inner
        self._gate = gate

    def __getattr__(self, name):
        call = getattr(self._inner, name)

        def gated(*args, **kwargs):
            self._gate.passage()
            return call(*args, **kwargs)

        return gated
