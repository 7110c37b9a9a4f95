"""Spans of serving engines and gateways (llm_conventions.md section 2), by scope, service and name: facts as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineSpan:
    """How an engine or gateway draws one of its spans.

    Attributes:
        system: Who draws it, for the text of the rule.
        name: Glob of the span's name.
        component: What the span is; for a part, what it is when it stands alone.
        scope, service: Globs that must hold too; "*" holds even where the text is absent.
        part: The span is a piece of the model call above it, and inherits that call's component.
        phase: The phase such a piece is; "" if it is none, "whole" where it mixes several and stays undivided.
    """

    system: str
    name: str
    component: str = "llm"
    scope: str = "*"
    service: str = "*"
    part: bool = False
    phase: str = ""


def _parts(system: str, phase: str, *names: str, scope: str = "*", service: str = "*") -> tuple[EngineSpan, ...]:
    alone = "queue" if phase == "queue" else "llm"
    return tuple(EngineSpan(system, name, alone, scope, service, part=True, phase=phase) for name in names)


TGI = "text-generation-inference*"
LITELLM = "litellm*"

ENGINE_SPANS: tuple[EngineSpan, ...] = (
    # vLLM: one span a request; children only from forks and open proposals.
    EngineSpan("vLLM", "llm_request"),
    *_parts("vLLM", "queue", "vllm_queue", "vllm_async_kv_transfer"),
    *_parts("vLLM", "prefill", "vllm_prefill"),
    *_parts("vLLM", "decode", "vllm_decode"),
    *_parts("vLLM", "queue", "queue", scope="vllm*"),
    *_parts("vLLM", "prefill", "prefill", scope="vllm*"),
    *_parts("vLLM", "decode", "decode", scope="vllm*"),
    EngineSpan("vLLM-Omni", "omni_request"),
    *_parts("vLLM-Omni", "whole", "llm_processing", "diffusion_request", scope="vllm*"),
    EngineSpan("vLLM", "*", "app", scope="vllm*"),  # start-up and the like
    # SGLang: request, threads, slices.
    *_parts("SGLang", "queue", "prefill_waiting", "decode_waiting", "prefill_bootstrap", "decode_bootstrap"),
    *_parts("SGLang", "queue", "decode_transferred"),
    *_parts("SGLang", "prefill", "prefill_forward", "chunked_prefill"),
    *_parts("SGLang", "decode", "decode_forward", "decode_loop"),
    EngineSpan("SGLang", "Req *", scope="sglang*"),
    EngineSpan("SGLang", " Req *", scope="sglang*"),
    EngineSpan("SGLang", "prefill Req *", scope="sglang*"),
    EngineSpan("SGLang", "decode Req *", scope="sglang*"),
    *_parts("SGLang", "", "*", scope="sglang*"),
    # Triton: every span is SERVER.
    EngineSpan("Triton", "InferRequest", scope="triton*"),
    *_parts("Triton", "whole", "*", scope="triton*"),
    EngineSpan("Triton", "InferRequest", service="triton*"),
    *_parts("Triton", "whole", "compute", service="triton*"),
    # Text Generation Inference.
    *_parts("TGI", "queue", "queued", "waiting", service=TGI),
    *_parts("TGI", "whole", "infer", service=TGI),
    *_parts("TGI", "", "send_generation", "async_stream", "batch", service=TGI),
    *(EngineSpan("TGI", name, service=TGI) for name in ("generate*", "compat_generate", "*completions", "vertex*")),
    # NVIDIA Dynamo and llm-d.
    *_parts("Dynamo", "queue", "kv_router.schedule"),
    EngineSpan("Dynamo", "kv_router.*", "gateway"),
    EngineSpan("Dynamo", "engine.generate"),
    EngineSpan("Dynamo", "handle_payload", "gateway"),
    EngineSpan("Dynamo", "http-request", "gateway", service="*dynamo*"),
    EngineSpan("llm-d", "gateway.request", "gateway"),
    EngineSpan("llm-d", "gateway.request_orchestration", "gateway"),
    EngineSpan("llm-d", "llm_d.epp.*", "gateway"),
    EngineSpan("llm-d", "llm_d.pd_proxy.request"),
    *_parts("llm-d", "prefill", "llm_d.pd_proxy.prefill"),
    *_parts("llm-d", "decode", "llm_d.pd_proxy.decode"),
    # LiteLLM: names of service spans are single words, so the scope must agree.
    EngineSpan("LiteLLM", "Received Proxy Server Request", "gateway"),
    EngineSpan("LiteLLM", "litellm_request"),
    *_parts("LiteLLM", "", "raw_gen_ai_request"),
    EngineSpan("LiteLLM", "redis*", "cache", scope=LITELLM),
    EngineSpan("LiteLLM", "cache.*", "cache", scope=LITELLM),
    EngineSpan("LiteLLM", "postgres*", "database", scope=LITELLM),
    EngineSpan("LiteLLM", "batch_write_to_db", "database", scope=LITELLM),
    EngineSpan("LiteLLM", "auth*", "auth", scope=LITELLM),
    EngineSpan("LiteLLM", "*guardrail*", "app", scope=LITELLM),
    EngineSpan("LiteLLM", "route*", "gateway", scope=LITELLM),
    EngineSpan("LiteLLM", "self", "gateway", scope=LITELLM),
    EngineSpan("LiteLLM", "proxy_*", "gateway", scope=LITELLM),
    EngineSpan("LiteLLM", "POST *", "gateway", scope=LITELLM),
    # Ray Serve.
    EngineSpan("Ray Serve", "proxy_http_request", "gateway"),
    EngineSpan("Ray Serve", "proxy_route_to_replica", "gateway"),
    EngineSpan("Ray Serve", "replica_handle_request", "app"),
    # Frameworks whose spans carry no kind.
    EngineSpan("Google ADK", "call_llm", scope="gcp.vertex.agent"),
    EngineSpan("Google ADK", "invocation", "agent", scope="gcp.vertex.agent"),
    EngineSpan("Pydantic AI", "model request attempt *"),
    EngineSpan("Pydantic AI", "agent run", "agent"),
    EngineSpan("Pydantic AI", "running tool*", "tool"),
    EngineSpan("Pydantic AI", "running output function*", "tool"),
    EngineSpan("Semantic Kernel", "AutoFunctionInvocationLoop", "agent"),
    EngineSpan("Haystack", "haystack.pipeline.run", "agent"),
    EngineSpan("Haystack", "haystack.agent.*", "agent"),
    EngineSpan("Vercel AI SDK", "step *", "agent", scope="gen_ai"),
)
"""Those that ask for neither scope nor service come first; of those that ask for the same, the first that holds."""
