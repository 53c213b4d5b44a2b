"""Google's Agent Development Kit with its own spans and a scripted model."""

import asyncio

from opentelemetry.trace import set_tracer_provider
from story import ANSWER, CALLS, INSTRUCTIONS, MODEL, TASK, run_python, stock_of


def run(url, provider):
    set_tracer_provider(provider)
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            parts = [part for content in llm_request.contents for part in content.parts or ()]
            answered = sum(part.function_response is not None for part in parts)
            if answered < len(CALLS):
                name, args = CALLS[answered]
                part = types.Part.from_function_call(name=name, args=args)
            else:
                part = types.Part.from_text(text=ANSWER)
            yield LlmResponse(
                content=types.Content(role="model", parts=[part]),
                usage_metadata=types.GenerateContentResponseUsageMetadata(
                    prompt_token_count=10, candidates_token_count=4, total_token_count=14
                ),
            )

    def look_up(shelf: int) -> dict:
        """Return how many boxes a shelf holds."""
        try:
            return {"boxes": stock_of(shelf)}
        except Exception as error:
            return {"error": str(error)}

    look_up.__name__ = "stock_of"
    agent = LlmAgent(
        name="clerk", model=Scripted(model=MODEL), instruction=INSTRUCTIONS, tools=[run_python, look_up]
    )

    async def ask():
        runner = InMemoryRunner(agent=agent, app_name="shop")
        session = await runner.session_service.create_session(app_name="shop", user_id="u")
        message = types.Content(role="user", parts=[types.Part.from_text(text=TASK)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            pass

    asyncio.run(ask())
