states = {"idle": {"start": "running"}, "running": {"pause": "paused", "stop": "idle"}, "paused": {"resume": "running"}}
state = "idle"
for event in ("start", "pause", "stop", "resume", "stop"):
    following = states[state].get(event)
    print(f"{state} --{event}--> {following or 'refused'}")
    state = following or state
