# A quiz with a seed, for the class.
import random

questions = [("capital of France", "Paris"), ("7 * 8", "56"), ("colour of the sky", "blue")]
rng = random.Random(5)
rng.shuffle(questions)
answers = {"capital of France": "Paris", "7 * 8": "54", "colour of the sky": "blue"}
right = 0
for number, (question, answer) in enumerate(questions, 1):
    good = answers[question] == answer
    right += good
    print(f"{number}. {question}? {answers[question]} {'✓' if good else '✗ (' + answer + ')'}")
print(f"{right}/{len(questions)} = {right / len(questions):.0%}")
print(rng.sample(range(100), 5), round(rng.gauss(0, 1), 4), rng.choices("ab", weights=[9, 1], k=5))
