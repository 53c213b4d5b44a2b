from pydantic import BaseModel, Field, ValidationError, field_validator


class Signup(BaseModel):
    email: str
    age: int = Field(ge=18)
    tags: list[str] = []

    @field_validator("email")
    @classmethod
    def has_at(cls, value):
        if "@" not in value:
            raise ValueError("not an address")
        return value.lower()


print(Signup.model_validate_json('{"email": "Ann@Example.com", "age": "30"}').model_dump())
try:
    Signup(email="nobody", age=5)
except ValidationError as error:
    for problem in error.errors():
        print(problem["loc"][0], problem["type"])
