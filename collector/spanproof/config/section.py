"""What every section of the configuration is: frozen, and nothing read that it does not know."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Section(BaseModel):
    """A section of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)
