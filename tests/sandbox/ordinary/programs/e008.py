import json

text = '{"name": "Ann", "pets": [{"kind": "cat", "age": 3}, {"kind": "dog", "age": 7}]}'
person = json.loads(text)
person["pets"].sort(key=lambda pet: -pet["age"])
print(json.dumps(person, indent=2, sort_keys=True))
