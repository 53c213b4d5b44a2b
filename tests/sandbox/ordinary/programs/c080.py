from sqlalchemy import create_engine, event, text
e = create_engine("sqlite://", echo=False)
seen = []
event.listen(e, "before_cursor_execute", lambda c, cur, s, p, ctx, m: seen.append(s))
with e.connect() as c:
    c.execute(text("select 1")); c.execute(text("select 2"))
print(seen)
