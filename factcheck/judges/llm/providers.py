"""Providers with OpenAI's chat protocol: addresses, keys and environment variables.

All others that LiteLLM supports (Anthropic, Gemini, Azure, Bedrock, Vertex, ...) go through DSPy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from factcheck.errors import ConfigError

if TYPE_CHECKING:
    from factcheck.settings import Model, Settings


class Provider(NamedTuple):
    """Connection defaults of a provider."""

    url: str
    """Default address."""
    key: str
    """Environment variable for the key."""
    address: str
    """Environment variable that overrides the address."""
    keyless: bool = False
    """Whether a key is optional."""
    path: str = ""
    """Appended to an address from the environment that has no path."""


def _provider(url: str, prefix: str, *, keyless: bool = False, path: str = "") -> Provider:
    return Provider(url, f"{prefix}_API_KEY", f"{prefix}_API_BASE", keyless, path)


_OLLAMA = _provider("http://localhost:11434/v1", "OLLAMA", keyless=True, path="/v1")
PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openrouter": _provider("https://openrouter.ai/api/v1", "OPENROUTER"),
    "deepseek": _provider("https://api.deepseek.com/v1", "DEEPSEEK"),
    "groq": _provider("https://api.groq.com/openai/v1", "GROQ"),
    "mistral": _provider("https://api.mistral.ai/v1", "MISTRAL"),
    "xai": _provider("https://api.x.ai/v1", "XAI"),
    "hosted_vllm": _provider("http://localhost:8000/v1", "HOSTED_VLLM", keyless=True),
    "lm_studio": _provider("http://localhost:1234/v1", "LM_STUDIO", keyless=True),
    "ollama_chat": _OLLAMA,
    "ollama": _OLLAMA,
}
"""Providers called directly rather than through DSPy, by model prefix."""
_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers of OpenAI, and their environment variables."""


@dataclass(frozen=True, slots=True)
class Access:
    """A model, its server and credentials."""

    name: str
    """Includes the provider: `openai/gpt-5-nano`."""
    base_url: str
    key: str | None = field(repr=False)
    is_default: bool
    """Whether this is the provider's default address."""
    provider: Provider
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def model(self) -> str:
        """Name without the provider, as the server knows it."""
        return self.name.partition("/")[2]

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""


def provider_of(name: str) -> Provider | None:
    """Return the provider of a model, or `None` if it is called through DSPy."""
    return PROVIDERS.get(name.partition("/")[0])


def access_to(model: Model, settings: Settings, *, needs_key: bool = True) -> Access:
    """Return the access to a model of a provider in `PROVIDERS`.

    Raises `ConfigError` if a key that is needed is missing, or the address or key is invalid.
    """
    provider = PROVIDERS[model.name.partition("/")[0]]
    key = model.api_key or settings.variable(provider.key)
    override = model.base_url or settings.variable(provider.address)
    what = "base_url" if model.base_url else provider.address
    if override is not None:
        override = check_address(what, override).rstrip("/")
        if not urlsplit(override).path and not model.base_url:
            override += provider.path
    if needs_key and key is None and override is None and not provider.keyless:
        raise ConfigError(
            f"{model.name!r} needs a key: set {provider.key}, "
            f"or {provider.address} for your own server"
        )
    if not (key or "").isascii() or any(c in (key or "") for c in "\r\n\0"):
        what = "api_key" if model.api_key else provider.key
        raise ConfigError(f"{what} contains characters that are invalid in a key; check it")
    variables = _HEADERS if provider is PROVIDERS["openai"] else {}
    headers = {name: settings.variable(variable) for name, variable in variables.items()}
    return Access(
        name=model.name,
        base_url=override or provider.url,
        key=key,
        is_default=override is None,
        provider=provider,
        headers=tuple((name, value) for name, value in headers.items() if value),
    )


def check_address(what: str, url: str) -> str:
    """Return `url` if it is a valid server address, without credentials or a query.

    Raises `ConfigError`, which shows neither, if it is not.
    """
    try:
        parts = urlsplit(url)
        is_server = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
        is_plain = not (parts.username is not None or parts.query or parts.fragment)
    except ValueError:
        is_server = is_plain = False
    if not is_server or not is_plain:
        raise ConfigError(
            f"{what} must be an address such as http://127.0.0.1:8000/v1, without a user name, "
            "password, query or fragment"
        )
    return url


def endpoint(base_url: str) -> str:
    """Return host, port and path of an address, without credentials or query."""
    url = urlsplit(base_url)
    port = f":{url.port}" if url.port else ""
    return f"{url.hostname}{port}{url.path.rstrip('/')}"
