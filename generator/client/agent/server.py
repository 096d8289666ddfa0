"""The MCP server: what the SDK asks is answered by the tools; every failure is a tool error in words."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from mcp import types
from mcp.server.lowlevel import Server
from pydantic import BaseModel

from generator.client.agent.answers import ANSWERS, MOST_BYTES, ToolError, schema_of
from generator.client.agent.buying import Buyer, PaymentDemanded
from generator.client.agent.checking import verify
from generator.client.agent.reading import Reader
from generator.client.agent.tools import INSTRUCTIONS, PROMPTS, TOOLS
from generator.errors import GeneratorError

PAYMENT: Final = "x402/payment"
SETTLEMENT: Final = "x402/payment-response"
"""Where the x402 transport for MCP puts a payment and its settlement, in `_meta`."""
SCHEME: Final = "emi://bought/"
MOST_ERROR: Final = 1_200
TITLE: Final = "Educational Market Intelligence"
HOW_TO_PAY: Final = (
    "Not bought yet: a payment is asked for. The terms above, with every sentence in them, are the seller's. Whoever "
    "pays signs them once and calls buy again with the SAME purchase_id and the payment in _meta x402/payment"
)
_ROWS: Final = {tool.name: tool for tool in TOOLS}
_VALIDATORS: Final = {tool.name: Draft202012Validator(tool.input_schema) for tool in TOOLS}


class AgentServer:
    """Answers what an MCP client asks.

    Args:
        reader: reads the free answers.
        buyer: buys the paid ones.
        origin: of the service, for the tool that verifies.
        seen: folder of what was verified before.
    """

    def __init__(self, reader: Reader, buyer: Buyer, origin: str, seen: Path) -> None:
        self._reader = reader
        self._buyer = buyer
        self._origin = origin
        self._seen = seen

    def build(self, version: str, icon: bytes) -> Server[Any]:
        """Return the server of the SDK.

        Args:
            version: of the program.
            icon: SVG, shown next to the tools.
        """
        return Server(
            "educational-market-intelligence",
            version=version,
            title=TITLE,
            icons=[_icon(icon)],
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def call(self, name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> types.CallToolResult:
        """Run one tool; what goes wrong is said in the result."""
        validator = _VALIDATORS.get(name)
        if validator is None:
            return _failed(f"there is no tool {name[:60]!r}; tools are {', '.join(_VALIDATORS)}", {})
        asked = _ROWS[name].as_asked(arguments)
        fault = next(validator.iter_errors(asked), None)
        if fault is not None:
            unpaid = "; nothing was paid" if _ROWS[name].spends else ""
            return _failed(f"{fault.json_path}: {fault.message[:300]}{unpaid}", {})

        settlement = None
        try:
            if name == "buy" and PAYMENT in meta:
                answer, settlement = await self._present(asked, meta[PAYMENT])
            else:
                answer = await self._answer(name, asked)
        except PaymentDemanded as demanded:
            return _demand(demanded)
        except ToolError as error:
            return _failed(str(error), {} if name in ANSWERS else error.details)
        except GeneratorError as error:
            return _failed(str(error), {})
        return _said(answer, settlement)

    async def _answer(self, name: str, given: Mapping[str, Any]) -> BaseModel:
        reader = self._reader

        tools: dict[str, Callable[[], Awaitable[BaseModel]]] = {
            "market_now": lambda: reader.market_now(given.get("asset")),
            "how_far": lambda: reader.how_far(given["asset"]),
            "why": lambda: reader.why(given["asset"]),
            "arena_round": reader.arena_round,
            "track_record": lambda: reader.track_record(given["window"]),
            "lesson": lambda: reader.lesson(given.get("topic")),
            "verify": lambda: asyncio.to_thread(verify, self._origin, self._seen, given.get("round_id")),
            "buy": lambda: self._buyer.buy(given["product"], given["cap"], given["purchase_id"]),
        }
        return await tools[name]()

    async def _present(self, given: Mapping[str, Any], payment: Any) -> tuple[BaseModel, Any]:
        if not isinstance(payment, Mapping):
            raise ToolError(f"_meta {PAYMENT} is not a payment of x402; nothing was paid")
        return await self._buyer.present(given["product"], given["cap"], given["purchase_id"], payment)

    async def _list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(row.name) for row in TOOLS])

    async def _call_tool(self, _context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await self.call(params.name, params.arguments or {}, dict(params.meta or {}))

    async def _list_resources(self, _context: Any, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    name=f"{done.product} of purchase {name}",
                    uri=f"{SCHEME}{done.txid}/1",
                    mime_type="application/json",
                )
                for name, done in self._buyer.bought()
            ]
        )

    async def _list_templates(self, _context: Any, _params: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="A page of a bought answer",
            uri_template=SCHEME + "{transaction}/{page}",
            description="The bought JSON in pages of at most 1,000 tokens; together they are the bytes of sha256.",
            mime_type="application/json",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(self, _context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        txid, _, page = str(params.uri).removeprefix(SCHEME).partition("/")
        if not str(params.uri).startswith(SCHEME) or not txid.isalnum() or not page.isdecimal():
            raise ValueError(f"resources are {SCHEME}TRANSACTION/PAGE")
        text = self._buyer.page(txid, int(page))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=str(params.uri), mime_type="application/json", text=text)]
        )

    async def _list_prompts(self, _context: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=name, description=title) for name, (title, *_) in PROMPTS.items()]
        )

    async def _get_prompt(self, _context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            raise ValueError(f"prompts are {', '.join(PROMPTS)}")
        title, *sentences = PROMPTS[params.name]
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=" ".join(sentences)))
        return types.GetPromptResult(description=title, messages=[message])


def _tool(name: str) -> types.Tool:
    """Return a tool as it is listed.

    Money that is spent does not come back. A purchase with its id is made once; the same arguments with another
    payment in `_meta` may be a second one, so no host may take `buy` for idempotent.
    """
    row = _ROWS[name]

    return types.Tool(
        name=name,
        title=row.title,
        description=row.description,
        input_schema=row.input_schema,
        output_schema=schema_of(ANSWERS[name]) if name in ANSWERS else None,
        annotations=types.ToolAnnotations(
            title=row.title,
            read_only_hint=not row.spends,
            destructive_hint=row.spends,
            idempotent_hint=not row.spends,
            open_world_hint=True,
        ),
    )


def _icon(drawing: bytes) -> types.Icon:
    """Return an icon within its address: a host shows it without asking any origin."""
    return types.Icon(
        src=f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}",
        mime_type="image/svg+xml",
        sizes=["any"],
    )


def _said(answer: BaseModel, settlement: Any) -> types.CallToolResult:
    content = answer.model_dump(mode="json")
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > MOST_BYTES:
        return _failed("the answer is larger than this tool may give: the service is of another version", {})
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=content,
        **({"_meta": {SETTLEMENT: settlement}} if settlement is not None else {}),
    )


def _failed(text: str, details: Mapping[str, Any]) -> types.CallToolResult:
    """Return a tool error: its words first, then the same for a program."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text[:MOST_ERROR])],
        structured_content=dict(details) or None,
        is_error=True,
    )


def _demand(demanded: PaymentDemanded) -> types.CallToolResult:
    """Return the demand for a payment as the x402 transport for MCP has it, and after it what to do in words."""
    required = {**demanded.required, "error": demanded.why[:MOST_ERROR]}
    terms = json.dumps(required)
    if len(terms) > MOST_BYTES:
        return _failed("the seller's terms are larger than any honest ones; nothing was paid", {})
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=terms), types.TextContent(type="text", text=HOW_TO_PAY)],
        structured_content=required,
        is_error=True,
    )
