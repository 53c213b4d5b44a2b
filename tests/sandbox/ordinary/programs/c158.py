import email, smtplib, mimetypes, imaplib
from email.message import EmailMessage
m = EmailMessage(); m["Subject"] = "Hi"; m["To"] = "a@example.org"; m.set_content("x"); m.add_attachment(b"1,2", maintype="text", subtype="csv", filename="a.csv")
print([p.get_content_type() for p in m.walk()], mimetypes.guess_type("a.xlsx")[0], mimetypes.guess_type("x.py")[0])
