import pint
import tenacity

units = pint.UnitRegistry()
distance = 5 * units.kilometer
print(distance.to("mile").magnitude.__round__(3), (distance / (30 * units.minute)).to("km/h"), units("3 ft").to("m").m)
attempts = []


@tenacity.retry(stop=tenacity.stop_after_attempt(3), wait=tenacity.wait_none(), reraise=True)
def flaky():
    attempts.append(1)
    if len(attempts) < 3:
        raise ConnectionError("try again")
    return "ok"


print(flaky(), len(attempts))
