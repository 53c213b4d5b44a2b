import yaml

document = """
services:
  web:
    image: nginx
    ports: [80, 443]
  db:
    image: postgres
    environment: &env {TZ: UTC}
  worker:
    environment:
      <<: *env
      QUEUE: mail
"""
config = yaml.safe_load(document)
print(sorted(config["services"]), config["services"]["worker"]["environment"])
print(yaml.safe_dump({"b": [1, 2], "a": None}, sort_keys=True))
try:
    yaml.safe_load("a: [1, 2")
except yaml.YAMLError as error:
    print(type(error).__name__)
