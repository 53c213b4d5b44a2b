import smtplib
try: smtplib.SMTP("localhost", 25, timeout=1); print("mail")
except OSError: print("no mail server")
