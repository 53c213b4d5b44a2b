import email
from email.message import EmailMessage

message = EmailMessage()
message["From"], message["To"], message["Subject"] = "ops@example.com", "team@example.com", "Weekly report"
message.set_content("Numbers attached.")
message.add_attachment("a,b\n1,2\n", subtype="csv", filename="report.csv")
parsed = email.message_from_bytes(message.as_bytes(), policy=email.policy.default)
print(parsed["subject"], [part.get_content_type() for part in parsed.walk()])
for part in parsed.iter_attachments():
    print(part.get_filename(), part.get_content().strip().splitlines())
