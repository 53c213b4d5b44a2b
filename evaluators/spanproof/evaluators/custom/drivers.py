"""The driver of a user's function in its program: it makes the calls and reports their answers.

In, on stdin: the mark, the seconds for a call, the calls. Out, on stdout: one line for each call, the mark
before it; the first line, an empty one, says that the function is there. What the function prints goes to
stderr. A call that raises, that ends the program in words of the language or that takes too long costs itself
and no other; the host sees to one that ends the program by other means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MAX_ANSWER = 16_000
"""Characters of one answer, as JSON."""

ENDED_LATE = '{"late": true, "ended": true}'
"""Reported for a call that could be stopped only with its program: the call after it was not made yet."""

_PYTHON = """
def __spanproof_calls__():
    import faulthandler, inspect, json, os, signal, sys
    globals().setdefault("json", json)  # many functions take it for granted
    answer_fd = os.dup(1)
    os.dup2(2, 1)
    request = json.load(sys.stdin)
    mark, allowed = request["mark"], request["timeout_s"]
    class Late(BaseException):
        pass
    def late(signum, frame):
        raise Late
    def send(line):
        waiting = ("\\n" + mark + line + "\\n").encode()
        while waiting:
            waiting = waiting[os.write(answer_fd, waiting):]
    def taken(variables):
        try:
            takes = list(inspect.signature(main).parameters.values())
        except (TypeError, ValueError):
            return variables
        if any(each.kind is each.VAR_KEYWORD for each in takes):
            return variables
        by_name = [each for each in takes if each.kind is each.POSITIONAL_OR_KEYWORD]
        apart = 2 - sum(each.kind is each.POSITIONAL_ONLY for each in takes)
        names = {each.name for each in by_name[max(0, apart):]}
        names |= {each.name for each in takes if each.kind is each.KEYWORD_ONLY}
        return {name: value for name, value in variables.items() if name in names}
    def answered(call):
        answer = main(call["completion"], call["target"], **taken(call["variables"]))
        if inspect.isawaitable(answer):
            import asyncio  # only here: it takes longer to import than a warm call does
            async def wait():
                return await answer
            answer = asyncio.run(wait())
        if isinstance(answer, dict):
            answer = {key: answer[key] for key in ("score", "skipped", "explanation") if key in answer}
            if answer.get("explanation") is not None:
                answer["explanation"] = str(answer["explanation"])[:2000]
        return json.dumps({"answer": answer})
    def timed(call):
        try:
            # Behind the timer a thread that needs no interpreter: compiled code hears of no signal.
            faulthandler.dump_traceback_later(allowed + 1, exit=True, file=2)
            signal.setitimer(signal.ITIMER_REAL, allowed, 1)
            answer_line = answered(call)
            signal.setitimer(signal.ITIMER_REAL, 0)
            return answer_line
        except Late:
            return json.dumps({"late": True})
        except SystemExit as ended:
            return json.dumps({"raised": ["SystemExit", f"it ended the program with exit code {ended.code}"]})
        except BaseException as raised:
            try:
                said = str(raised)
            except Exception:
                said = ""
            return json.dumps({"raised": [type(raised).__name__, said[:2000]]})
    signal.signal(signal.SIGALRM, late)
    send("")
    for call in request["calls"]:
        try:
            answer_line = timed(call)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Late:
            answer_line = json.dumps({"late": True})
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        send(answer_line if len(answer_line) <= request["most"] else json.dumps({"long": len(answer_line)}))
    os._exit(0)
__spanproof_calls__()
"""

_NODE = """
;(async () => {
    const writeOut = process.stdout.write.bind(process.stdout)
    process.stdout.write = process.stderr.write.bind(process.stderr)
    const vm = process.getBuiltinModule?.("node:vm")
    let text = ""
    for await (const chunk of process.stdin) text += chunk
    const request = JSON.parse(text)
    const late = Symbol("late")
    const send = (line) => writeOut("\\n" + request.mark + line + "\\n")
    // A loop behind an await, or in what an answer does when it is read, keeps this thread from hearing of
    // any timer: another thread minds the time. Its start takes longer than a call, which plain answers save.
    const threads = process.getBuiltinModule?.("node:worker_threads")
    const calls = new Int32Array(new SharedArrayBuffer(4))  // odd while one is at work, -1 where that is over
    let watched = threads === undefined
    const watch = () => {
        if (watched) return
        watched = true
        new threads.Worker(`
            const {workerData: {calls, late, allowed}} = require("node:worker_threads")
            for (;;) {
                const seen = Atomics.load(calls, 0)
                const waited = Atomics.wait(calls, 0, seen, seen % 2 === 1 ? allowed : Infinity)
                if (waited === "timed-out" && Atomics.compareExchange(calls, 0, seen, -1) === seen) {
                    require("node:fs").writeSync(1, late)
                    process.kill(process.pid, "SIGKILL")
                }
            }
        `, {eval: true, workerData: {
                calls, late: "\\n" + request.mark + request.ended + "\\n",
                allowed: request.timeout_s * 1000 + 1000
            }}).unref()
    }
    const simple = (value) => value === null || (typeof value !== "object" && typeof value !== "function")
    const plainly = (answer) => simple(answer) || (
        !process.getBuiltinModule("node:util").types.isProxy(answer)
        && Object.getPrototypeOf(answer) === Object.prototype
        && Object.values(Object.getOwnPropertyDescriptors(answer))
            .every((each) => simple(each.value) && !each.get)
    )
    const turn = async () => {
        const was = Atomics.load(calls, 0)
        if (was === -1 || Atomics.compareExchange(calls, 0, was, was + 1) !== was) await new Promise(() => {})
        Atomics.notify(calls, 0)
    }
    const plain = (_key, value) => typeof value === "number" && !isFinite(value) ? String(value) : value
    const begun = (start) => {
        if (vm === undefined) return start()
        globalThis[request.mark] = start
        try {
            return vm.runInThisContext(`globalThis["${request.mark}"]()`, {timeout: request.timeout_s * 1000})
        } catch (raised) {
            if (raised?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return late
            throw raised
        } finally {
            delete globalThis[request.mark]
        }
    }
    const timed = async ({completion, target, variables}) => {
        let timer
        const over = new Promise((resolve) => { timer = setTimeout(resolve, request.timeout_s * 1000, late) })
        try {
            const call = () => main.length > 1
                ? main(completion, target, variables)
                : main({completion, target, ...variables})
            const begins = begun(call)
            if (!watched && !plainly(begins)) watch()
            let answer = await Promise.race([begins, over])
            if (answer === late) return JSON.stringify({late: true})
            if (typeof answer === "object" && answer !== null) {
                const {score, skipped, explanation} = answer
                answer = {score, skipped, explanation: explanation && String(explanation).slice(0, 2000)}
            }
            return JSON.stringify({answer: answer === undefined ? null : answer}, plain)
        } catch (raised) {
            const type = raised?.constructor?.name ?? "Error"
            return JSON.stringify({raised: [type, String(raised?.message ?? raised).slice(0, 2000)]})
        } finally {
            clearTimeout(timer)
        }
    }
    if (vm === undefined) watch()
    send("")
    for (const call of request.calls) {
        await turn()
        const answer_line = await timed(call)
        await turn()
        send(answer_line.length <= request.most ? answer_line : JSON.stringify({long: answer_line.length}))
    }
    process.exit(0)
})()
"""

DRIVERS: Final[Mapping[str, str]] = {"python": _PYTHON, "typescript": _NODE, "javascript": _NODE}
"""By language."""
