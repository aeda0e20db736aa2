"""The official Python client of MCP against Baton: `client.py stdio BATON` or `client.py http URL`, in a repository.

Prints one line of JSON for each case.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters

PATIENCE = 60
TASKFILE = Path(".agent/Taskfile.yml")


def server():
    kind, target = sys.argv[1:3]
    if kind == "http":
        return target
    return StdioServerParameters(command=target, args=["mcp"], env=dict(os.environ))


def text(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def until(what, check):
    async with asyncio.timeout(PATIENCE):
        while not check():
            await asyncio.sleep(0.05)


def is_running(marker):
    for folder in Path("/proc").iterdir():
        try:
            if marker in (folder / "cmdline").read_text():
                return True
        except OSError:
            pass
    return False


async def listed(client):
    names = [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]
    assert "run_user_task" in names and "add_task" in names, names


async def called(client):
    result = await client.call_tool("run_user_task", {"task_name": "greet"})
    assert not result.is_error and "Hello" in text(result), result


async def errors(client):
    result = await client.call_tool("run_user_task", {"task_name": "no-such-task"})
    assert result.is_error and "no-such-task" in text(result), result
    try:
        result = await client.call_tool("no_such_tool", {})
    except MCPError as error:
        assert "no_such_tool" in str(error), error
    else:
        assert result.is_error, result


async def list_changed(client):
    aside = TASKFILE.with_suffix(".aside")
    async with asyncio.timeout(PATIENCE), client.listen(tools_list_changed=True) as changes:
        TASKFILE.rename(aside)
        async for _ in changes:
            break
        names = [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]
        assert "run_user_task" not in names, names
        aside.rename(TASKFILE)
        async for _ in changes:
            break
    await listed(client)


async def cancelled(client):
    marker = str(Path("marker").resolve())
    call = asyncio.create_task(client.call_tool("run_user_task", {"task_name": "wait"}))
    await until("it runs", lambda: is_running(marker))
    call.cancel()
    try:
        await call
        raise AssertionError("it was not cancelled")
    except asyncio.CancelledError:
        pass
    await until("its process is gone", lambda: not is_running(marker))
    await called(client)


async def concurrent(client):
    say = lambda number: client.call_tool("run_user_task", {"task_name": "say", "args": f"number-{number}-"})
    results = await asyncio.gather(*(say(number) for number in range(12)))
    for number, result in enumerate(results):
        assert f"number-{number}-" in text(result), (number, result)


async def main():
    async with Client(server(), read_timeout_seconds=PATIENCE) as client:
        for case in [listed, called, errors, list_changed, cancelled, concurrent]:
            try:
                await case(client)
                line = {"case": case.__name__, "ok": True}
            except Exception as error:
                line = {"case": case.__name__, "ok": False, "why": repr(error)}
            print(json.dumps({**line, "version": str(client.protocol_version)}), flush=True)


asyncio.run(main())
